// `noop.op` ends immediately. `noop.told` first reports its start to BENCH_START_PORT: one datagram with execution id and time.
const dgram = require('node:dgram');

const port = Number(process.env.BENCH_START_PORT ?? 0);
const socket = port > 0 ? dgram.createSocket('udp4').unref() : null;

const told = (ctx) => {
  socket?.send(`${ctx.executionId} ${performance.timeOrigin + performance.now()}`, port, '127.0.0.1');
  return null;
};

module.exports = {
  handlers: (sdk) => ({ 'noop.op': sdk.resumable(() => null), 'noop.told': sdk.resumable(told) }),
};
