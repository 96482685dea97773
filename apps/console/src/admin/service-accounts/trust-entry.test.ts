import { entriesOf, faultsOf, NEW_TRUST, rulesOf } from './trust-entry';

const rule = { issuer: 'https://ci.example.org', audience: 'https://baton', subject: 'repo:shop:*' };

test('rules come back unchanged, with a certificate only where there is one', () => {
  const pem = '-----BEGIN CERTIFICATE-----';
  const trust = [rule, { ...rule, ca_certificate: pem }];
  expect(rulesOf(entriesOf(trust))).toEqual(trust);
  expect(rulesOf(entriesOf([{ ...rule, ca_certificate: null }]))).toEqual([rule]);
});

test('what is missing, and a subject that is everybody, are told by their place', () => {
  expect(Object.keys(faultsOf([NEW_TRUST]))).toEqual([
    'trust[0].issuer',
    'trust[0].audience',
    'trust[0].subject',
  ]);
  expect(faultsOf([...entriesOf([rule]), ...entriesOf([{ ...rule, subject: '*' }])])).toEqual({
    'trust[1].subject': 'With * alone, every customer of the issuer would be trusted.',
  });
});
