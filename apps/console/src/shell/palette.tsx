/** The command palette: places, actions of the screen, and search results of the manager behind one input. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useApi, useMay, useTenant } from '../api/api-context';
import { t } from '../text/text';
import { Dialog } from '../ui/dialog';
import { controlClass } from '../ui/field';
import { pathOf } from '../ui/path-of';
import { useRested } from '../ui/use-rested';
import styles from './palette.module.css';
import { foundThingsQuery, LEAST_LETTERS } from './palette-found';
import { matching, moved } from './palette-match';
import { placesFor } from './places';

interface Command {
  id: string;
  text: string;
  sub: string;
  group: string;
  run: () => void;
}

export default function Palette({ onClose }: { onClose: () => void }) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const { commands, isSearching } = useCommands(typed.trim());
  const chosen = commands[Math.min(at, commands.length - 1)];
  // Scrolls the selected option into view.
  useEffect(() => {
    if (chosen) list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const run = (command: Command): void => {
    onClose();
    command.run();
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && chosen) {
      event.preventDefault();
      run(chosen);
      return;
    }
    const isMove = ['ArrowDown', 'ArrowUp'].includes(event.key);
    if (!isMove) return;
    event.preventDefault();
    setAt(moved(Math.min(at, commands.length - 1), event.key, commands.length));
  };
  return (
    <Dialog title={t.palette.title} onClose={onClose}>
      <input
        // Keys typed immediately must not be lost.
        // The dialog was opened to type here.
        autoFocus
        className={controlClass}
        role="combobox"
        aria-label={t.palette.hint}
        placeholder={t.palette.hint}
        aria-expanded
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={chosen && `${id}-${commands.indexOf(chosen)}`}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div id={id} ref={list} role="listbox" aria-label={t.palette.title} className={styles.list}>
        {groupsOf(commands).map(([group, members]) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a listbox.
          <div key={group} role="group" aria-label={group}>
            <p className={styles.group} aria-hidden="true">
              {group}
            </p>
            {members.map((command) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and takes the keys.
              // biome-ignore lint/a11y/useFocusableInteractive: as above.
              <div
                key={command.id}
                id={`${id}-${commands.indexOf(command)}`}
                role="option"
                aria-selected={command === chosen}
                className={styles.option}
                onClick={() => run(command)}
              >
                <span>{command.text}</span>
                {command.sub && <span className={styles.sub}>{command.sub}</span>}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p role="status" className={styles.status}>
        {isSearching ? t.state.loading : commands.length === 0 ? t.list.noMatch : t.palette.keys}
      </p>
    </Dialog>
  );
}

/** Groups the commands, in the order of each group's first command. */
function groupsOf(commands: readonly Command[]): [group: string, members: Command[]][] {
  const groups = new Map<string, Command[]>();
  for (const command of commands) groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
  return [...groups];
}

function useCommands(typed: string): { commands: Command[]; isSearching: boolean } {
  const { client } = useApi();
  const tenant = useTenant();
  const navigate = useNavigate();
  const may = useMay();
  // Actions of the screen that was shown when the palette opened.
  const [actions] = useState(actionsOnScreen);
  const text = useRested(typed);
  const isLong = text.length >= LEAST_LETTERS;
  const found = useQuery({ ...foundThingsQuery(client, tenant, text), enabled: isLong });
  const places = placesFor(may).flatMap((group) =>
    group.places.map(({ to, text: name }) => ({
      id: `place-${to}`,
      text: name,
      sub: '',
      group: t.palette.places,
      run: () => void navigate({ to, params: { tenant } }),
    })),
  );
  const things = useMemo(() => (isLong ? (found.data ?? []) : []), [isLong, found.data]);
  const commands = [
    ...matching(actions, typed),
    ...matching(places, typed),
    ...things.map((thing) => ({
      id: `${thing.kind}-${thing.id}`,
      text: thing.text,
      sub: thing.sub,
      group: t.nav[thing.kind],
      run: () => void navigate({ to: pathOf(tenant, thing.kind, thing.id) }),
    })),
  ];
  return { commands, isSearching: isLong && found.isFetching };
}

/** Actions of the screen (ui/screen.tsx): its buttons and links beside the heading. Running an action clicks the element. */
function actionsOnScreen(): Command[] {
  const found = document.querySelectorAll<HTMLElement>('[data-actions] button:enabled, [data-actions] a');
  return [...found].map((one, i) => ({
    id: `action-${i}`,
    text: (one.getAttribute('aria-label') ?? one.textContent ?? '').trim(),
    sub: '',
    group: t.palette.actions,
    run: () => one.click(),
  }));
}
