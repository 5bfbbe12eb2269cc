<?php
// The smallest server that needs no extension: plain text, one connection after the other.
$server = stream_socket_server("tcp://127.0.0.1:0", $code, $why,
	STREAM_SERVER_BIND | STREAM_SERVER_LISTEN,
	stream_context_create(["socket" => ["backlog" => 4096]]));
if (!$server) {
	fwrite(STDERR, "listen: $why\n");
	exit(1);
}
echo "port ", substr(strrchr(stream_socket_get_name($server, false), ":"), 1), "\n";
flush();
for (;;) {
	$client = @stream_socket_accept($server, -1); // no timeout: an idle server does not wake up
	if (!$client)
		continue;
	while (($line = fgets($client)) !== false && rtrim($line) !== "")
		;
	@fwrite($client, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" .
		"Content-Length: 4\r\nConnection: close\r\n\r\nhola");
	fclose($client);
}
