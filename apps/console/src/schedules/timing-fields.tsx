import type { Zone } from '../text/format';
import { t } from '../text/text';
import { Check } from '../ui/field';
import type { ErrorOf } from '../ui/form-dialog';
import { AreaField, SelectField, TextField } from '../ui/inputs';
import { type TimingEntry, UNITS, WEEKDAYS } from './schedule-entry';
import styles from './timing-fields.module.css';

interface TimingFieldsProps {
  timing: TimingEntry;
  onChange: (timing: TimingEntry) => void;
  errorOf: ErrorOf;
  zone: Zone;
}

/** Times of a schedule, and its behaviour when it cannot run in time. */
export function TimingFields({ timing, onChange, errorOf, zone }: TimingFieldsProps) {
  const texts = t.schedules.form;
  const set =
    <Name extends keyof TimingEntry>(name: Name) =>
    (value: TimingEntry[Name]) =>
      onChange({ ...timing, [name]: value });
  const modes = Object.entries(texts.modes) as [TimingEntry['mode'], string][];
  return (
    <>
      <SelectField
        label={texts.mode}
        value={timing.mode}
        options={modes}
        onChange={set('mode')}
        error={errorOf('mode')}
      />
      {timing.mode === 'every' && <EveryFields timing={timing} set={set} errorOf={errorOf} />}
      {timing.mode === 'rrule' && (
        <AreaField
          label={texts.rrule}
          hint={texts.rruleHint}
          value={timing.rrule}
          onChange={set('rrule')}
          error={errorOf('rrule')}
          isRequired
        />
      )}
      <TextField
        label={texts.since[zone]}
        type="datetime-local"
        value={timing.since}
        onChange={set('since')}
        error={errorOf('since')}
        isRequired={timing.mode !== 'rrule'}
      />
      {timing.mode !== 'once' && (
        <TextField
          label={texts.until[zone]}
          type="datetime-local"
          value={timing.until}
          onChange={set('until')}
          error={errorOf('until')}
        />
      )}
      <TextField
        label={texts.slip}
        hint={texts.slipHint}
        inputMode="numeric"
        value={timing.slip}
        onChange={set('slip')}
        error={errorOf('slip')}
      />
      <Check label={texts.stopOnFail} isChecked={timing.stopOnFail} onChange={set('stopOnFail')} />
    </>
  );
}

type Setter = <Name extends keyof TimingEntry>(name: Name) => (value: TimingEntry[Name]) => void;

function EveryFields({ timing, set, errorOf }: { timing: TimingEntry; set: Setter; errorOf: ErrorOf }) {
  const texts = t.schedules.form;
  const { weekdays } = timing;
  const fault = errorOf('weekdays');
  return (
    <>
      <div className={styles.pair}>
        <TextField
          label={texts.every}
          inputMode="numeric"
          value={timing.every}
          onChange={set('every')}
          error={errorOf('recurrence')}
          isRequired
        />
        <SelectField
          label={texts.unit}
          value={timing.unit}
          options={UNITS.map((unit) => [unit, texts.units[unit]] as const)}
          onChange={set('unit')}
        />
      </div>
      <fieldset className={styles.days}>
        <legend>{texts.weekdays}</legend>
        {[...new Set([...WEEKDAYS, ...weekdays])].map((day) => (
          <Check
            key={day}
            label={t.schedules.weekdays[day] ?? day}
            isChecked={weekdays.includes(day)}
            onChange={(isOn) =>
              set('weekdays')(isOn ? [...weekdays, day] : weekdays.filter((one) => one !== day))
            }
          />
        ))}
        {fault && <p className={styles.fault}>{fault}</p>}
      </fieldset>
      <TextField
        label={texts.count}
        hint={texts.countHint}
        inputMode="numeric"
        value={timing.count}
        onChange={set('count')}
        error={errorOf('count')}
      />
    </>
  );
}
