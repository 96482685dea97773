// `noop.op` ends at once. With BENCH_START_PORT it first tells when it started: one datagram, execution id and time.
const dgram = require('node:dgram');

const port = Number(process.env.BENCH_START_PORT ?? 0);
const socket = port > 0 ? dgram.createSocket('udp4').unref() : null;

const tell = (ctx) =>
  socket.send(`${ctx.executionId} ${performance.timeOrigin + performance.now()}`, port, '127.0.0.1');

const told = (ctx) => {
  tell(ctx);
  return null;
};

module.exports = { handlers: (sdk) => ({ 'noop.op': sdk.resumable(socket ? told : () => null) }) };
