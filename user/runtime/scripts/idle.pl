# The smallest server that core modules make: plain text, one connection after the other.
use strict;
use warnings;
use IO::Socket::INET;

$SIG{PIPE} = "IGNORE";
$| = 1;
my $server = IO::Socket::INET->new(
	LocalAddr => "127.0.0.1", LocalPort => 0, Proto => "tcp", Listen => 4096)
	or die "listen: $@\n";
print "port ", $server->sockport, "\n";
while (my $client = $server->accept) {
	while (defined(my $line = <$client>)) {
		last if $line =~ /^\r?\n$/;
	}
	print $client "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n",
		"Content-Length: 4\r\nConnection: close\r\n\r\nhola";
	close $client;
}
