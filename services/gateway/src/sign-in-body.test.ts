import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { credentialOf, readSignIn as read, SIGN_IN_BYTES } from './sign-in-body';
import { createSignInWaits } from './sign-in-waits';

const readSignIn = (request: IncomingMessage) =>
  read({ request, response: new ServerResponse(request), address: 'a' }, createSignInWaits());

test.each(['', '{', '[]', 'null', '1', '"x"', '{}', '{"code":"c"}', '{"username":"a"}', '{"password":"b"}'])(
  '%p holds no user name with a password',
  (text) => expect(credentialOf(text)).toBeNull(),
);

test.each([
  '{"username":"a","password":1}',
  '{"username":["a"],"password":"b"}',
  '{"username":"","password":"b"}',
])('%p holds none either', (text) => expect(credentialOf(text)).toBeNull());

test('a password may be anything', () => {
  expect(credentialOf('{"username":"a","password":"ü:\\u0000"}')).toEqual({
    kind: 'basic',
    username: 'a',
    password: 'ü:\u0000',
  });
});

/** Returns a request whose body has arrived in these pieces. */
function requestOf(...pieces: string[]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  for (const piece of pieces) request.push(piece);
  request.complete = true;
  request.push(null);
  return request;
}

async function restOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

test('what was read is still there for the service', async () => {
  const text = '{"username":"bob","password":"bob_pw"}';
  const request = requestOf(text.slice(0, 11), text.slice(11));
  expect(await readSignIn(request)).toMatchObject({ username: 'bob', password: 'bob_pw' });
  expect(await restOf(request)).toBe(text);
});

test('a body that is too long is refused before it is read, and an empty one ends for the service', async () => {
  const long = requestOf(' '.repeat(SIGN_IN_BYTES + 1));
  await expect(readSignIn(long)).rejects.toMatchObject({ code: 'payload_too_large_error' });
  const empty = requestOf();
  expect(await readSignIn(empty)).toBeNull();
  expect(await restOf(empty)).toBe('');
});

test('a body that never ends is waited for until its request was answered', async () => {
  const request = new IncomingMessage(new Socket());
  request.push('{"username":');
  const response = new ServerResponse(request);
  const waits = createSignInWaits();
  const reading = read({ request, response, address: 'a' }, waits);
  response.emit('close');
  expect(await reading).toBeNull();
});
