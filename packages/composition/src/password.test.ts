import { makePassword, type PasswordRule, ruleComplaint } from './password';

const rule: PasswordRule = { length: 8, uppercase: 0, lowercase: 0, digits: 0, symbols: 0 };

describe('a password', () => {
  it('has its length and at least the characters that are asked for', () => {
    for (let i = 0; i < 50; i++) {
      const made = makePassword({ length: 12, uppercase: 2, lowercase: 1, digits: 3, symbols: 1 });
      expect(made).toHaveLength(12);
      const count = (pattern: RegExp): number => [...made].filter((one) => pattern.test(one)).length;
      expect([
        count(/[A-Z]/) >= 2,
        count(/[a-z]/) >= 1,
        count(/\d/) >= 3,
        count(/[^A-Za-z0-9]/) >= 1,
      ]).toEqual([true, true, true, true]);
    }
  });
  it('has none of a kind that is left out', () => {
    const made = makePassword({ length: 200, uppercase: -1, lowercase: 0, digits: 0, symbols: -1 });
    expect(made).toMatch(/^[a-z0-9]{200}$/);
  });
  it('is another one each time', () => {
    expect(new Set(Array.from({ length: 20 }, () => makePassword({ ...rule, length: 20 }))).size).toBe(20);
  });
});

it.each([
  [{}, null],
  [{ length: 5 }, 'at least 6 characters'],
  [{ digits: -2 }, 'Illegal character group length'],
  [{ uppercase: -1, lowercase: -1, digits: -1, symbols: -1 }, 'at least one character group'],
  [{ uppercase: 5, digits: 4 }, 'larger than the password length'],
  [{ uppercase: 8, digits: -1, lowercase: -1, symbols: -1 }, null],
])('the rule %j: %s', (change, complaint) => {
  const found = ruleComplaint({ ...rule, ...change });
  if (complaint === null) expect(found).toBeNull();
  else expect(found).toContain(complaint);
});
