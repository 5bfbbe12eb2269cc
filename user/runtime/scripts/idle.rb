# The smallest server that the standard library makes: plain text, one connection after the other.
require "socket"

server = TCPServer.new("127.0.0.1", 0)
$stdout.sync = true
puts "port #{server.addr[1]}"
loop do
  client = server.accept
  begin
    while (line = client.gets)
      break if line.chomp.empty?
    end
    client.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" \
                 "Content-Length: 4\r\nConnection: close\r\n\r\nhola")
  rescue SystemCallError
    # the client went away
  ensure
    client.close
  end
end
