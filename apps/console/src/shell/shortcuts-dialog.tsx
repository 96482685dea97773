import { t } from '../text/text';
import { Dialog } from '../ui/dialog';
import { PLACE_GROUPS } from './places';
import styles from './shortcuts-dialog.module.css';

const PLACES = PLACE_GROUPS.flatMap(({ places }) =>
  places.flatMap(({ key, text }): [string[], string][] =>
    key ? [[['g', key], t.shortcuts.goTo(text)]] : [],
  ),
);

const SHORTCUTS: readonly [keys: string[], text: string][] = [
  [['/'], t.shortcuts.search],
  [['Ctrl K', ':'], t.shortcuts.palette],
  ...PLACES,
  [['j', 'k'], t.shortcuts.next],
  [['Enter'], t.shortcuts.open],
  [['Esc'], t.shortcuts.escape],
  [['?'], t.shortcuts.help],
];

export default function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t.shortcuts.title} onClose={onClose}>
      <dl className={styles.list}>
        {SHORTCUTS.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
