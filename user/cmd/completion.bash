# bash completion for wakewhy: commands, options as the command's own --help lists them, runtimes.
_wakewhy()
{
	local word=$2 previous=$3 command=${COMP_WORDS[1]} offered=
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		offered='run attach startup idle serve hash study report diff list doctor selftest'
	elif [[ $word == -* ]]; then
		offered=$(wakewhy "$command" --help 2> /dev/null |
			grep -oE -- '(^|[ ,])--?[A-Za-z][a-z-]*' | tr -d ' ,' | sort -u)
	else
		case $previous:$command in
		-o:* | --output:* | -c:* | --cgroup:* | *:report | *:diff) compopt -o default ;;
		-u:* | --user:*) mapfile -t COMPREPLY < <(compgen -u -- "$word") ;;
		*:run) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
		*:startup | *:idle | *:serve | *:hash | *:study) offered='bun node deno python3 perl ruby php floor' ;;
		*:list) offered='runtimes workloads causes metrics formats' ;;
		esac
		if [[ $previous == -f || $previous == --format ]]; then
			offered=$(wakewhy list formats 2> /dev/null | awk 'NR > 1 { print $1 }')
		fi
	fi
	[ -z "$offered" ] || mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$word")
}
complete -F _wakewhy wakewhy
