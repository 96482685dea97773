// Starts something new from a template, without questions:
//   npm run new -- service <name>
//   npm run new -- rpc <service>[/<room>] <MethodName>
//   npm run new -- message <service> <fact-in-past-tense>
//   npm run new -- loop <service>[/<room>] <name>
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { newLoop } from './loop.mjs';
import { newMessage } from './message.mjs';
import { newRpc } from './rpc.mjs';
import { newService } from './service.mjs';

const templates = { service: newService, rpc: newRpc, message: newMessage, loop: newLoop };
const usage =
  'usage: new service <name> | rpc <service>[/<room>] <MethodName> | message <service> <fact> | loop <service>[/<room>] <name>';

function fail(text) {
  console.error(text);
  process.exit(64);
}

/** Returns access to files that a template may read; absent files read as null. */
function tree(root) {
  return {
    exists: (path) => existsSync(join(root, path)),
    read: (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : null),
  };
}

function main(kind, args) {
  const root = process.env.BATON_NEW_ROOT ?? join(import.meta.dirname, '../..');
  const template = templates[kind];
  if (!template) fail(usage);
  const made = template(tree(root), ...args);
  if (made.error) fail(`${made.error}\n${usage}`);
  for (const { path, text } of made.files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    console.log(`written ${path}`);
  }
  console.log(`\nto do by hand:\n${made.steps.map((step) => `  - ${step}`).join('\n')}`);
}

main(process.argv[2], process.argv.slice(3));
