# bash completion for wakewhy: commands, options as the command's own --help lists them, runtimes.
_wakewhy()
{
	local word=$2 command=${COMP_WORDS[1]} previous=$3 offered=
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		offered='run attach startup idle hash report diff list doctor'
	elif [[ $word == -* ]]; then
		offered=$(wakewhy "$command" --help 2> /dev/null | grep -oE -- '--?[a-z][a-z-]*' | sort -u)
	else
		case $previous in
		-o | --output | -c | --cgroup) compopt -o default; return ;;
		-f | --format) offered=$(wakewhy list formats 2> /dev/null | awk '{ print $1 }') ;;
		-u | --user) COMPREPLY=($(compgen -u -- "$word")); return ;;
		*)
			case $command in
			startup | idle | hash) offered='bun node deno python3 perl ruby php floor' ;;
			list) offered='runtimes workloads causes metrics formats' ;;
			report | diff) compopt -o default; return ;;
			run) COMPREPLY=($(compgen -c -- "$word")); return ;;
			esac
			;;
		esac
	fi
	COMPREPLY=($(compgen -W "$offered" -- "$word"))
}
complete -F _wakewhy wakewhy
