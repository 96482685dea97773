import { checkTrust, fitsSubject, storedTrust, trustOf } from './trust';

const rule = { issuer: 'https://ci.example', audience: 'baton', subject: 'repo:org/shop:*' };

test('a subject is whole, or begins as the rule says', () => {
  expect(fitsSubject(rule, 'repo:org/shop:ref:main')).toBe(true);
  expect(fitsSubject(rule, 'repo:org/shop:')).toBe(false);
  expect(fitsSubject(rule, 'repo:org/shopping:ref:main')).toBe(false);
  expect(fitsSubject({ subject: 'a' }, 'a')).toBe(true);
  expect(fitsSubject({ subject: 'a' }, 'A')).toBe(false);
  expect(fitsSubject({ subject: 'a' }, 'ab')).toBe(false);
});

test.each([
  [{ ...rule, subject: '*' }, 'trust.0.subject'],
  [{ ...rule, subject: 'a*b' }, 'trust.0.subject'],
  [{ ...rule, issuer: 'http://ci.example' }, 'trust.0.issuer'],
  [{ ...rule, ca_certificate: 'none' }, 'trust.0.ca_certificate'],
])('the rule %j is refused', (bad, field) => {
  expect(() => checkTrust([bad])).toThrow(
    expect.objectContaining({ code: 'bad_parameters_error', details: expect.objectContaining({ field }) }),
  );
});

test('rules are stored with their number', () => {
  expect(trustOf(storedTrust([rule]), 'ci')).toEqual([rule]);
  expect(() => trustOf({ format: 2, rules: [] }, 'ci')).toThrow('format 2');
});
