import { actionsFor, isSharp } from './actions-for';

test.each([
  ['started', ['cancel', 'force-cancel', 'kill']],
  ['cancelling', ['force-cancel', 'kill']],
  ['failed', ['resume', 'force-resume']],
  ['terminated', []],
  [null, []],
])('of one that is %s: %o', (status, actions) => expect(actionsFor(status)).toEqual(actions));

test('what gives no time asks first', () => {
  expect([isSharp('kill'), isSharp('force-cancel'), isSharp('cancel'), isSharp('resume')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
