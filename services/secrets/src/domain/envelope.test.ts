import { Secret } from '@baton/kernel';
import { shownValue, storedText } from '../adapters/secret-value';
import { masterKeyOf, openValue, rewrapKey, sealValue } from './envelope';
import { decryptWith, encryptWith, passphraseKey } from './passphrase';

const first = masterKeyOf(new Secret('first master key of the test, long'));
const second = masterKeyOf(new Secret('second master key of the test, long'));
const identity = { tenant: 't', key: 'k', version: 3 };
const value = new Secret('a value ✓');

describe('envelope', () => {
  it('opens with the same identity only', () => {
    const sealed = sealValue(first, identity, value);
    expect(openValue([first], identity, sealed).expose()).toBe('a value ✓');
    for (const other of [{ tenant: 'u' }, { key: 'l' }, { version: 2 }]) {
      expect(() => openValue([first], { ...identity, ...other }, sealed)).toThrow(
        expect.objectContaining({ code: 'invalid_fernet_token_format_error' }),
      );
    }
  });

  it('opens for the same use only, and moves to a new key with it', () => {
    const sealed = sealValue(first, identity, value, 'content');
    expect(openValue([first], identity, sealed, 'content').expose()).toBe('a value ✓');
    expect(() => openValue([first], identity, sealed)).toThrow(/cannot be decrypted/);
    expect(() => openValue([first], identity, sealValue(first, identity, value), 'content')).toThrow(
      /decrypted/,
    );
    const moved = { ...sealed, ...rewrapKey([second, first], identity, sealed) };
    expect(openValue([second], identity, moved, 'content').expose()).toBe('a value ✓');
  });

  it('notices every changed byte and never shows the value', () => {
    const sealed = sealValue(first, identity, value);
    for (const field of ['ciphertext', 'wrappedKey'] as const) {
      for (const at of [0, 15, sealed[field].length - 1]) {
        const bent = Buffer.from(sealed[field]);
        bent[at]! ^= 1;
        expect(() => openValue([first], identity, { ...sealed, [field]: bent })).toThrow(
          /cannot be decrypted/,
        );
      }
    }
    expect(sealed.ciphertext.includes('a value')).toBe(false);
    expect(sealValue(first, identity, value).ciphertext.equals(sealed.ciphertext)).toBe(false);
  });

  it('moves to a new master key without touching the value', () => {
    const sealed = sealValue(first, identity, value);
    const moved = { ...sealed, ...rewrapKey([second, first], identity, sealed) };
    expect(moved.ciphertext).toBe(sealed.ciphertext);
    expect(openValue([second], identity, moved).expose()).toBe('a value ✓');
    expect(() => openValue([second], identity, sealed)).toThrow(/not configured/);
  });
});

describe('passphrase', () => {
  it('goes both ways and refuses another passphrase or changed text', async () => {
    const key = await passphraseKey(new Secret('correct horse'));
    const text = encryptWith(key, value, 0);
    expect(decryptWith(key, text).expose()).toBe('a value ✓');
    expect(text).toMatch(/^gAAAAA[\w=-]+$/);
    const other = await passphraseKey(new Secret('wrong horse'));
    for (const bad of [
      () => decryptWith(other, text),
      () => decryptWith(key, `${text.slice(0, 20)}AAAA${text.slice(24)}`),
      () => decryptWith(key, 'short'),
    ]) {
      expect(bad).toThrow(expect.objectContaining({ code: 'bad_parameters_error' }));
    }
  });
});

describe('values with a schema', () => {
  it('are checked, stored as text and given back as JSON', () => {
    const schema = {
      type: 'object',
      properties: { port: { type: 'integer', maximum: 10 } },
      required: ['port'],
    };
    const text = storedText({ port: 5 }, schema);
    expect(text.expose()).toBe('{"port": 5}');
    expect(shownValue(text, schema)).toEqual({ port: 5 });
    expect(() => storedText({ port: 11 }, schema)).toThrow(
      expect.objectContaining({ code: 'conflict_error' }),
    );
    expect(() => storedText('x', { type: 'nosuchtype' })).toThrow(
      expect.objectContaining({ code: 'bad_parameters_error' }),
    );
    expect(() => storedText({ a: 1 }, null)).toThrow(
      expect.objectContaining({ code: 'bad_parameters_error' }),
    );
  });

  it('a pattern that would backtrack for ever ends', () => {
    expect(() => storedText(`${'a'.repeat(50_000)}!`, { type: 'string', pattern: '^(a+)+$' })).toThrow(
      /pattern/,
    );
  });

  it('the refusal does not repeat the value', () => {
    try {
      storedText('canary-value', { type: 'integer' });
    } catch (error) {
      expect(JSON.stringify([error, (error as Error).message])).not.toContain('canary-value');
    }
    expect.assertions(1);
  });
});
