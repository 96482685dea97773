import { bytesText } from './bytes';

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [2048, '2 KB'],
  [3_565_158, '3.4 MB'],
])('%d bytes are %s', (n, text) => expect(bytesText(n)).toBe(text));
