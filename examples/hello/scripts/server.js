// `node server.js start <folder>` prints the port of a server that goes on by itself and the word that stops it;
// `node server.js serve <folder> <word>` is that server; `node server.js stop <address> <word>` stops it. It is stopped by its
// address and not by a process id: operations see no processes but their own.
const { spawn } = require('node:child_process');
const { randomUUID } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { join } = require('node:path');

const [action, place, word] = process.argv.slice(2);

if (action === 'start') {
  const stopWord = randomUUID();
  const child = spawn(process.execPath, [__filename, 'serve', place, stopWord], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // The server outlives the folder that the operation ran in.
    cwd: '/',
  });
  child.once('message', (port) => {
    console.log(`${port} ${stopWord}`);
    child.disconnect();
    child.unref();
  });
  child.once('exit', () => process.exit(1));
} else if (action === 'stop') {
  fetch(new URL(word, place), { method: 'POST' }).catch(() => undefined);
} else {
  const page = readFileSync(join(place, 'index.html'));
  const server = createServer((request, response) => {
    if (request.method === 'POST' && request.url === `/${word}`) {
      response.end(() => process.exit(0));
      return;
    }
    if (request.url !== '/') {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(page);
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
}
