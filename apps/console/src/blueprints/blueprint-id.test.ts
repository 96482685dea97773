import { idOfFileName, nextId } from './blueprint-id';

test.each([
  ['web.tar.gz', 'web'],
  ['My blueprint (1).zip', 'My-blueprint-1'],
  ['C:\\files\\a b.tgz', 'a-b'],
  ['.hidden', 'hidden'],
  ['<img src=x>.zip', 'img-src-x'],
])('the id of %s is %s', (name, id) => expect(idOfFileName(name)).toBe(id));

test.each([
  ['web', 'web-2'],
  ['web-2', 'web-3'],
  ['web-1.5', 'web-1.5-2'],
])('beside %s comes %s', (id, next) => expect(nextId(id)).toBe(next));
