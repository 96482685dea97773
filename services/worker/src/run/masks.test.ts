import { createMasks } from './masks';

describe('masks', () => {
  it('hide values, their usual encodings and single lines of long ones', () => {
    const masks = createMasks();
    masks.add(['p@ss word/1', { deep: '-----BEGIN KEY-----\nMIIEpAIBAAKCAQ\n-----END KEY-----' }, 123456]);
    const encoded = `${Buffer.from('p@ss word/1').toString('base64')} ${encodeURIComponent('p@ss word/1')}`;
    expect(masks.hide(`a p@ss word/1 b ${encoded} MIIEpAIBAAKCAQ 123456`)).toBe(
      'a ******** b ******** ******** ******** ********',
    );
    expect(
      masks.hide(JSON.stringify({ key: '-----BEGIN KEY-----\nMIIEpAIBAAKCAQ\n-----END KEY-----' })),
    ).toBe('{"key":"********"}');
  });

  it('leave short values alone and hide the longer of two that overlap', () => {
    const masks = createMasks();
    masks.add(['on', 'abcd', 'abcdef']);
    expect(masks.hide('on abcdef abcd')).toBe('on ******** ********');
  });

  it('say where a text may be cut so that no secret lies across', () => {
    const masks = createMasks();
    expect(masks.cut('x'.repeat(10), 5, 'before')).toBe(5);
    masks.add(['abcab', 'cabinet']);
    const text = 'xxabcabinetyy';
    expect([3, 6, 10].map((at) => masks.cut(text, at, 'before'))).toEqual([2, 2, 2]);
    expect([3, 6, 10].map((at) => masks.cut(text, at, 'after'))).toEqual([11, 11, 11]);
    expect([2, 11].map((at) => masks.cut(text, at, 'before'))).toEqual([2, 11]);
    expect([2, 11].map((at) => masks.cut(text, at, 'after'))).toEqual([2, 11]);
    // The rest of a secret may follow, and the text before the cut may end with its beginning.
    const ends = ['xx', 'xxab', 'xxcabine', 'xxabcab', 'abca'];
    expect(ends.map((end) => masks.cut(end, end.length, 'before'))).toEqual([2, 2, 2, 2, 0]);
  });
});
