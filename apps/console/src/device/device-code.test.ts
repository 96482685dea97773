import { forgetDeviceCode, keepDeviceCode, keptDeviceCode } from './device-code';

function open(hash: string, storage: () => Storage): string[] {
  const addresses: string[] = [];
  const location = { hash, pathname: '/ui/-/device', search: '' } as Location;
  const replaceState = (_state: unknown, _title: string, url: string) => addresses.push(url);
  keepDeviceCode(location, { state: null, replaceState } as unknown as History, storage);
  return addresses;
}

function storageOf(): () => Storage {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  } as Storage;
  return () => storage;
}

test('a code leaves the address, and is kept until it is forgotten', () => {
  const storage = storageOf();
  expect(open('#user_code=BCDF-GHJK', storage)).toEqual(['/ui/-/device']);
  expect(keptDeviceCode(storage)).toBe('BCDF-GHJK');
  forgetDeviceCode(storage);
  expect(keptDeviceCode(storage)).toBe('');
});

test('what is no code leaves the address, and is not kept', () => {
  const storage = storageOf();
  expect(open('#user_code=<img src=x>', storage)).toEqual(['/ui/-/device']);
  expect(keptDeviceCode(storage)).toBe('');
});

test('without storage the page opens without a code', () => {
  const none = (): Storage => {
    throw new Error('denied');
  };
  expect(open('#user_code=BCDF-GHJK', none)).toEqual(['/ui/-/device']);
  expect(keptDeviceCode(none)).toBe('');
});
