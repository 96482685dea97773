// `node server.js start <folder>` prints the process id and the port of a server that goes on by itself;
// `node server.js serve <folder>` is that server.
const { spawn } = require('node:child_process');
const { createReadStream } = require('node:fs');
const { createServer } = require('node:http');
const { join } = require('node:path');

const [action, folder] = process.argv.slice(2);

if (action === 'start') {
  const child = spawn(process.execPath, [__filename, 'serve', folder], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // The server outlives the folder that the operation ran in.
    cwd: folder,
  });
  child.once('message', (port) => {
    console.log(`${child.pid} ${port}`);
    child.disconnect();
    child.unref();
  });
  child.once('exit', () => process.exit(1));
} else {
  const server = createServer((request, response) => {
    if (request.url !== '/') {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('content-type', 'text/html; charset=utf-8');
    createReadStream(join(folder, 'index.html'))
      .on('error', () => response.writeHead(500).end())
      .pipe(response);
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
}
