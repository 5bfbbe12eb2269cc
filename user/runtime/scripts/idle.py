# The smallest server of the standard library: plain text.
import http.server
import socketserver


class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"hola"
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(http.server.HTTPServer):
    request_queue_size = 4096

    # HTTPServer's own asks the resolver for a name that nobody needs, which may hang.
    def server_bind(self):
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


server = Server(("127.0.0.1", 0), Hello)
print("port", server.server_port, flush=True)
server.serve_forever()
