// Echo server: the other end of a round trip that measures the cost of waking another process.
import { type AddressInfo, createServer } from 'node:net';
import { serveParent } from '../harness/child';

const server = createServer((socket) => {
  socket.setNoDelay();
  socket.on('error', () => socket.destroy());
  socket.pipe(socket);
});

serveParent<object>(
  () =>
    new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    }),
  async () => void server.close(),
);
