/** The control of a field, by its type. */
import type { ComponentProps, ReactNode } from 'react'
import { Button } from '../../../parts/button.tsx'
import { CodeEditor } from '../../../parts/code-editor/code-editor.tsx'
import { HtmlEditor } from '../../../parts/html-editor/html-editor.tsx'
import { NewPassword } from '../../../parts/new-password.tsx'
import { showError } from '../../../parts/toasts.tsx'
import { TEXTS } from '../../../texts.ts'
import { isMany, kindOf, type ControlName } from '../../kinds.ts'
import type { FieldInputProps } from './draft.ts'
import { FileInput } from './file-input.tsx'
import { RelationInput } from './relation-input.tsx'

const { form: texts } = TEXTS.records
const SHORT_TEXT = 120

export function FieldInput(props: FieldInputProps): ReactNode {
  const Input = INPUTS[kindOf(props.field).control]
  return <Input {...props} />
}

const INPUTS: Readonly<Record<ControlName, (props: FieldInputProps) => ReactNode>> = {
  area: TextArea,
  html: HtmlInput,
  line: (props) => <Line props={props} />,
  decimal: (props) => <Line props={props} inputMode="decimal" />,
  address: (props) => <Line props={props} type="email" />,
  webAddress: (props) => <Line props={props} type="url" />,
  secret: SecretInput,
  switch: BoolInput,
  time: DateInput,
  choice: SelectInput,
  files: FileInput,
  records: RelationInput,
  code: JsonInput,
  point: GeoPointInput,
}

interface LineProps extends Pick<ComponentProps<'input'>, 'type' | 'inputMode'> {
  readonly props: FieldInputProps
}

/** An error of the server says more than one of the browser, so nothing is checked before. */
function Line({ props: { value, onValue, control }, ...attributes }: LineProps): ReactNode {
  return (
    <input
      {...control}
      className="input"
      type="text"
      autoComplete="off"
      {...attributes}
      value={String(value)}
      onChange={({ target }) => onValue(target.value)}
    />
  )
}

function SecretInput({ record, value, onValue, control }: FieldInputProps): ReactNode {
  const placeholder = record === undefined ? undefined : texts.keepPassword
  return <NewPassword {...control} value={String(value)} onValue={onValue} placeholder={placeholder} />
}

function TextArea(props: FieldInputProps): ReactNode {
  const { field, record, value, onValue, control } = props
  const text = String(value)
  if (field.primaryKey === true)
    return (
      <input
        {...control}
        className="input input-code"
        readOnly={record !== undefined}
        placeholder={texts.ownId}
        spellCheck={false}
        value={text}
        onChange={({ target }) => onValue(target.value)}
      />
    )
  const isShort = text.length < SHORT_TEXT && !text.includes('\n')
  return (
    <textarea
      {...control}
      className="input input-text"
      rows={isShort ? 1 : 4}
      value={text}
      onChange={({ target }) => onValue(target.value)}
    />
  )
}

function HtmlInput({ field, value, onValue, control }: FieldInputProps): ReactNode {
  return <HtmlEditor name={field.name} value={String(value)} onValue={onValue} control={control} />
}

function JsonInput({ field, value, onValue, control }: FieldInputProps): ReactNode {
  const text = String(value)
  const format = (): void => {
    try {
      if (text.trim() !== '') onValue(JSON.stringify(JSON.parse(text), undefined, 2))
    } catch (error) {
      showError(texts.noJson((error as Error).message))
    }
  }
  return (
    <div className="code-panel json">
      <CodeEditor language="json" label={field.name} hint="null" control={control} value={text} onValue={onValue} />
      <Button kind="quiet" icon="json" label={texts.format(field.name)} onPress={format} />
    </div>
  )
}

function BoolInput({ value, onValue, control }: FieldInputProps): ReactNode {
  return (
    <span className="switch">
      <input
        {...control}
        type="checkbox"
        role="switch"
        checked={value === true}
        onChange={({ target }) => onValue(target.checked)}
      />
    </span>
  )
}

/** In the zone of the browser, to the second. What is stored is UTC. */
function DateInput({ value, onValue, control }: FieldInputProps): ReactNode {
  const text = String(value)
  return (
    <input
      {...control}
      className="input"
      type="datetime-local"
      step={1}
      value={localText(text)}
      title={text}
      onChange={({ target }) => onValue(target.value === '' ? '' : storedText(target.value))}
    />
  )
}

function localText(stored: string): string {
  const date = new Date(stored.replace(' ', 'T'))
  if (stored === '' || Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

function storedText(local: string): string {
  return new Date(local).toISOString().replace('T', ' ')
}

function SelectInput({ field, value, onValue, control }: FieldInputProps): ReactNode {
  const chosen = value as readonly string[]
  const { values = [] } = field
  if (!isMany(field))
    return (
      <select
        {...control}
        className="input"
        value={chosen[0] ?? ''}
        onChange={({ target }) => onValue(target.value === '' ? [] : [target.value])}
      >
        <option value="">{texts.nothing}</option>
        {values.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    )
  const toggle = (option: string): void =>
    onValue(chosen.includes(option) ? chosen.filter((one) => one !== option) : [...chosen, option])
  return (
    <span className="choices" role="group" aria-label={field.name} aria-describedby={control['aria-describedby']}>
      {values.map((option, at) => (
        <label key={option} className="choice">
          <input
            id={at === 0 ? control.id : undefined}
            type="checkbox"
            checked={chosen.includes(option)}
            onChange={() => toggle(option)}
          />
          {option}
        </label>
      ))}
    </span>
  )
}

function GeoPointInput({ value, onValue, control }: FieldInputProps): ReactNode {
  const point = value as Readonly<Record<'lat' | 'lon', string>>
  return (
    <span className="geo">
      {(['lat', 'lon'] as const).map((axis, at) => (
        <label key={axis}>
          <span>{texts[axis]}</span>
          <input
            {...(at === 0 && control)}
            className="input"
            inputMode="decimal"
            value={point[axis]}
            onChange={({ target }) => onValue({ ...point, [axis]: target.value })}
          />
        </label>
      ))}
    </span>
  )
}
