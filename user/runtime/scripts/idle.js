// The smallest server of a runtime: plain text, Bun.serve or Deno.serve where there is one, else node's.
// It is read as CommonJS by bun and node and as a module by deno, so it uses neither's own syntax.
if (globalThis.Bun) {
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		fetch: () => new Response("hola"),
	});
	console.log(`port ${server.port}`);
} else if (globalThis.Deno) {
	Deno.serve(
		{
			hostname: "127.0.0.1",
			port: 0,
			onListen: ({ port }) => console.log(`port ${port}`),
		},
		() => new Response("hola"),
	);
} else {
	const server = require("node:http").createServer((request, response) => {
		response.setHeader("Content-Type", "text/plain");
		response.end("hola");
	});
	server.listen(0, "127.0.0.1", () => console.log(`port ${server.address().port}`));
}
