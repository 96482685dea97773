import { call } from '../../harness/session';
import { control, held, type Row } from '../row';

const GUESSES = 60;

export const row: Row = {
  name: '8',
  title: 'sixty guesses of a password in a moment',
  modes: ['standalone', 'services'],
  async run({ ask, admin, user }) {
    // A separate user: a user whose password was guessed at is slowed down for a while.
    const guessed = { name: 'guessed', password: 'guessed-password', tenant: user.tenant };
    await call(
      admin,
      'createUser',
      {},
      { username: guessed.name, password: guessed.password, role: 'default' },
    );
    await call(
      admin,
      'addTenantUser',
      {},
      { tenant_name: user.tenant, username: guessed.name, role: 'user' },
    );
    const right = await ask('/api/v3.1/secrets', guessed);
    control(right.status === 200, `the right password is answered ${right.status}`);
    const guesses = await Promise.all(
      Array.from({ length: GUESSES }, (_, i) =>
        ask('/api/v3.1/secrets', { ...guessed, password: `guess-${i}` }),
      ),
    );
    const checked = guesses.filter(({ status }) => status === 401).length;
    // 503: the service has as many logins to check as it takes at once. Neither checks a password.
    const refused = guesses.filter(({ status }) => status === 429 || status === 503).length;
    const other = await ask('/api/v3.1/secrets', user);
    return held(
      refused > 0 && checked < GUESSES / 2 && checked + refused === GUESSES && other.status === 200,
      `${checked} were checked, ${refused} refused unchecked; another user: ${other.status}`,
    );
  },
};
