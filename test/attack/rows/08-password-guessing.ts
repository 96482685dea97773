import type { Row } from '../row';

export const row: Row = {
  number: 8,
  title: 'sixty guesses of a password in a moment',
  modes: ['standalone', 'services'],
  async run({ ask, user }) {
    const guesses = await Promise.all(
      Array.from({ length: 60 }, (_, i) => ask('/api/v3.1/status', { ...user, password: `guess-${i}` })),
    );
    const checked = guesses.filter(({ status }) => status === 401).length;
    const refused = guesses.filter(({ status }) => status === 429).length;
    return {
      isHeld: refused > 0 && checked < 60,
      happened: `${checked} were checked, ${refused} refused by 429`,
    };
  },
};
