// The ctx command where there is no bash; see ./ctx for its options.
const { request } = require('node:http');

let url = process.env.CTX_SOCKET_URL || '';
let waitSeconds = Number(process.env.CTX_TIMEOUT) || 30;
let prefix = '@';
let json = '0';
const args = process.argv.slice(2);
const options = {
  '-t': (v) => (waitSeconds = Number(v)),
  '--timeout': (v) => (waitSeconds = Number(v)),
  '--socket-url': (v) => (url = v),
  '--json-arg-prefix': (v) => (prefix = v),
};
for (;;) {
  const [name, inline] = (args[0] || '').split(/=(.*)/s);
  if (options[name]) {
    args.shift();
    options[name](inline === undefined ? args.shift() : inline);
  } else if (name === '-j' || name === '--json-output') {
    args.shift();
    json = '1';
  } else break;
}
if (args[0] === '--') args.shift();

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

const isLines = args.length === 1 && args[0] === '-';
if (isLines) args[0] = require('node:fs').readFileSync(0, 'utf8');
const words = args.filter((a) => a !== '-j' && a !== '--json-output');
if (words.length !== args.length) json = '1';
const netstring = (word) => `${Buffer.byteLength(word)}:${word},`;
const body = [prefix, json, ...words].map(netstring).join('');
if (!url) fail('RuntimeError: CTX_SOCKET_URL is not set: ctx works only in scripts that the manager runs');
else {
  const headers = {
    'content-type': `application/x-ctx-${isLines ? 'lines' : 'args'}`,
    'content-length': Buffer.byteLength(body),
  };
  const call = request(
    url.replace('//localhost:', '//127.0.0.1:'),
    { method: 'POST', headers, agent: false },
    (answer) => {
      process.exitCode = Number(answer.headers['x-ctx-exit'] || 1);
      answer.pipe(process.exitCode ? process.stderr : process.stdout);
    },
  );
  call.setTimeout(waitSeconds * 1000, () =>
    call.destroy(new Error(`no answer within ${waitSeconds} seconds`)),
  );
  call.on('error', (error) => fail(`RuntimeError: ${error.message}`));
  call.end(body);
}
