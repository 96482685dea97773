// Health of a container: asks its own port for operators. Whether the certificate there is trusted does not matter: it is us.
const secure = (process.env.BATON_TLS || 'off') !== 'off';
const { get } = require(secure ? 'node:https' : 'node:http');
const port = Number(process.env.BATON_OPS_PORT || 9091);
const asked = get(
  { host: '127.0.0.1', port, path: '/readyz', timeout: 4000, rejectUnauthorized: false },
  (answer) => {
    process.exit(answer.statusCode === 200 ? 0 : 1);
  },
);
asked.on('timeout', () => asked.destroy(new Error('no answer')));
asked.on('error', () => process.exit(1));
