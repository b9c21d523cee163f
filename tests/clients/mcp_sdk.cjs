// The official MCP client against a server: node mcp_sdk.cjs FOLDER_OF_THE_SDK SERVER [ARG...]
// Prints what it saw as one JSON object.
const { createRequire } = require("node:module");
const [folder, command, ...args] = process.argv.slice(2);
const sdk = createRequire(folder + "/client.cjs");
const { Client } = sdk("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = sdk("@modelcontextprotocol/sdk/client/stdio.js");

(async () => {
  const client = new Client({ name: "cmem-test", version: "1" }, { capabilities: {} });
  // The client hands a server few variables of its own accord.
  const transport = new StdioClientTransport({ command, args, env: process.env });
  await client.connect(transport);
  const seen = { server: client.getServerVersion(), instructions: client.getInstructions() };
  seen.tools = (await client.listTools()).tools.map((tool) => tool.name);
  seen.rows = await client.callTool({ name: "search", arguments: { query: "retry limit" } });
  const id = seen.rows.content[0].text.trim().split(/\s+/)[0];
  seen.whole = await client.callTool({ name: "get_observations", arguments: { ids: [id] } });
  seen.wrong = await client.callTool({ name: "search", arguments: { limit: 0 } });
  seen.unknown = await client.callTool({ name: "no-such", arguments: {} }).catch((error) => ({ code: error.code }));
  seen.resources = (await client.listResources()).resources.map((resource) => resource.uri);
  seen.templates = (await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate);
  seen.context = (await client.readResource({ uri: seen.resources[0] })).contents[0].text;
  const abort = new AbortController();
  const aborted = client.callTool({ name: "search", arguments: {} }, undefined, { signal: abort.signal });
  abort.abort();
  seen.aborted = await aborted.then(() => "answered", () => "aborted");
  seen.after = await client.ping();
  const process_id = transport.pid;
  await client.close();
  try {
    process.kill(process_id, 0);
    seen.left = false;
  } catch {
    seen.left = true;
  }
  console.log(JSON.stringify(seen));
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
