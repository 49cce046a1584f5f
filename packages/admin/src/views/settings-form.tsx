/** Forms of settings: a draft of them, controls that change a value of it, and what the server says is wrong beside each. */
import { createContext, useContext, useEffect, useState } from 'react'
import type { Context, InputHTMLAttributes, ReactNode } from 'react'
import { ApiError, isObject } from '../api/request.ts'
import { changeSettings, readSettings } from '../api/settings.ts'
import type { Settings } from '../api/settings.ts'
import { Button, useBusy } from '../parts/button.tsx'
import { FormField } from '../parts/form-field.tsx'
import { errorText, showDone } from '../parts/toasts.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { useUnsaved } from '../parts/use-unsaved.ts'
import type { StaysAt } from '../state/route.ts'
import { OPERATIONS } from '../texts/operations.ts'

const { settings: texts } = OPERATIONS

export interface SettingsDraft {
  /** Undefined while they are loaded. */
  readonly saved: Settings | undefined
  readonly draft: Settings
  readonly error: unknown
  readonly reload: () => Promise<void>
  /** `path`: `smtp.host` */
  readonly change: (path: string, value: unknown) => void
  /** Stores what has changed below these paths. Resolves with whether the server has taken it. @throws ApiError if it can't be reached */
  readonly save: (paths: readonly string[]) => Promise<boolean>
  /** Undoes what was changed below these paths. */
  readonly undo: (paths: readonly string[]) => void
  readonly isChanged: (paths: readonly string[]) => boolean
  /** The server's error at a path. */
  readonly errorAt: (path: string) => string | undefined
  /** The server's errors at other paths. */
  readonly refusal: string
}

/** Text that is typed in one part of the settings stays while another part is shown. */
const isSettings: StaysAt = ([view]) => view === 'settings'

export function useSettingsDraft(): SettingsDraft {
  const loaded = useLoaded('settings', readSettings)
  const [saved, setSaved] = useState<Settings>()
  const [draft, setDraft] = useState<Settings>({})
  const [errors, setErrors] = useState<unknown>({})
  const [refusal, setRefusal] = useState('')
  useEffect(() => {
    if (loaded.value === undefined) return
    setSaved(loaded.value)
    setDraft(loaded.value)
  }, [loaded.value])
  const differs = (path: string): boolean =>
    JSON.stringify(valueAt(draft, path)) !== JSON.stringify(valueAt(saved ?? {}, path))
  const isChanged = (paths: readonly string[]): boolean => saved !== undefined && paths.some(differs)
  const isUnsaved = saved !== undefined && JSON.stringify(draft) !== JSON.stringify(saved)
  useUnsaved(isUnsaved, isSettings)
  const pick = (paths: readonly string[], from: Settings, to: Settings): Settings =>
    paths.reduce((into, path) => withValue(into, path, valueAt(from, path)), to)
  return {
    saved,
    draft,
    error: loaded.error,
    reload: loaded.reload,
    isChanged,
    refusal,
    change: (path, value) => setDraft((before) => withValue(before, path, value)),
    undo: (paths) => {
      setErrors({})
      setRefusal('')
      setDraft(pick(paths, saved ?? {}, draft))
    },
    errorAt: (path) => messageOf(valueAt(errors, path)),
    save: async (paths) => {
      setErrors({})
      setRefusal('')
      try {
        const stored = await changeSettings(pick(paths, draft, {}))
        setSaved(stored)
        setDraft((before) => pick(paths, stored, before))
        showDone(texts.saved)
        return true
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 400) throw error
        const { data } = error.answer
        setErrors(data)
        const isPlaced = typeof data === 'object' && data !== null && Object.keys(data).length > 0
        setRefusal(isPlaced ? texts.refused : errorText(error))
        return false
      }
    },
  }
}

/** Draft of the form that a control stands in. */
const Draft: Context<SettingsDraft | undefined> = createContext<SettingsDraft | undefined>(undefined)

interface SettingsFormProps {
  readonly settings: SettingsDraft
  /** The paths that this part stores. */
  readonly paths: readonly string[]
  /** Asked before it stores; false: it does not. */
  readonly onSave?: () => Promise<boolean>
  readonly children: ReactNode
}

export function SettingsForm({ settings, paths, onSave, children }: SettingsFormProps): ReactNode {
  const { isBusy, run } = useBusy()
  const isChanged = settings.isChanged(paths)
  const save = async (): Promise<void> => {
    if ((await onSave?.()) !== false) await settings.save(paths)
  }
  return (
    <Draft value={settings}>
      <form
        className="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void run(save)
        }}
      >
        {children}
        <p className="refusal" role="alert" hidden={settings.refusal === ''}>
          {settings.refusal}
        </p>
        <div className="form-foot">
          <Button kind="primary" type="submit" disabled={!isChanged || isBusy} aria-busy={isBusy}>
            {texts.save}
          </Button>
          {isChanged && <Button onPress={() => settings.undo(paths)}>{texts.undo}</Button>}
        </div>
      </form>
    </Draft>
  )
}

export function useDraftValue(path: string): {
  readonly value: unknown
  readonly onValue: (value: unknown) => void
  readonly error: string | undefined
} {
  const { draft, change, errorAt } = useContext(Draft)!
  return { value: valueAt(draft, path), onValue: (value) => change(path, value), error: errorAt(path) }
}

interface SettingProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange' | 'children'> {
  readonly path: string
  readonly label: string
  readonly help?: string
}

export function TextSetting({ path, label, help, ...rest }: SettingProps): ReactNode {
  const { value, onValue, error } = useDraftValue(path)
  return (
    <FormField label={label} help={help} error={error}>
      {(control) => (
        <input
          spellCheck={false}
          autoComplete="off"
          {...rest}
          {...control}
          className="input"
          value={shown(value)}
          onChange={({ target }) => onValue(target.value)}
        />
      )}
    </FormField>
  )
}

/** The setting of a secret, which the server has and does not show. Nothing typed: it stays. */
export function SecretSetting({ path, label }: SettingProps): ReactNode {
  const { value, onValue, error } = useDraftValue(path)
  return (
    <FormField label={label} help={texts.secretHelp} error={error}>
      {(control) => (
        <input
          {...control}
          type="password"
          className="input"
          autoComplete="new-password"
          placeholder={texts.secret}
          value={shown(value)}
          onChange={({ target }) => onValue(target.value === '' ? undefined : target.value)}
        />
      )}
    </FormField>
  )
}

export function NumberSetting({ path, label, help, ...rest }: SettingProps): ReactNode {
  const { value, onValue, error } = useDraftValue(path)
  return (
    <FormField label={label} help={help} error={error}>
      {(control) => (
        <input
          min={0}
          {...rest}
          {...control}
          type="number"
          className="input"
          value={shown(value)}
          onChange={({ target }) => onValue(target.value === '' ? 0 : Number(target.value))}
        />
      )}
    </FormField>
  )
}

export function CheckSetting({ path, label, help }: SettingProps): ReactNode {
  const { value, onValue, error } = useDraftValue(path)
  return (
    <div className="field">
      <label className="check">
        <input type="checkbox" checked={value === true} onChange={({ target }) => onValue(target.checked)} />
        {label}
      </label>
      {help !== undefined && <p className="field-help">{help}</p>}
      {error !== undefined && <p className="field-error">{error}</p>}
    </div>
  )
}

interface ChoiceSettingProps extends SettingProps {
  /** Values with their names. */
  readonly options: readonly (readonly [value: string | number, name: string])[]
}

export function ChoiceSetting({ path, label, help, options }: ChoiceSettingProps): ReactNode {
  const { value, onValue, error } = useDraftValue(path)
  return (
    <FormField label={label} help={help} error={error}>
      {(control) => (
        <select
          {...control}
          className="input"
          value={String(value)}
          onChange={({ target }) => onValue(options.find(([option]) => String(option) === target.value)?.[0])}
        >
          {options.map(([option, name]) => (
            <option key={option} value={option}>
              {name}
            </option>
          ))}
        </select>
      )}
    </FormField>
  )
}

/** A list of texts, each on a line. */
export function ListSetting({ path, label, help, placeholder }: SettingProps): ReactNode {
  const { value, onValue, error } = useDraftValue(path)
  const items = (value ?? []) as readonly string[]
  const [text, setText] = useState(items.join('\n'))
  useEffect(() => {
    setText((before) => (same(listOf(before), items) ? before : items.join('\n')))
  }, [items])
  return (
    <FormField label={label} help={help} error={error}>
      {(control) => (
        <textarea
          {...control}
          className="input"
          rows={Math.max(2, text.split('\n').length)}
          spellCheck={false}
          placeholder={placeholder}
          value={text}
          onChange={({ target }) => {
            setText(target.value)
            onValue(listOf(target.value))
          }}
        />
      )}
    </FormField>
  )
}

function shown(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function listOf(text: string): string[] {
  return text.split(/[\n,]/).flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.join('\n') === other.join('\n')
}

function valueAt(from: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), from)
}

function withValue(object: Settings, path: string, value: unknown): Settings {
  const [name = '', ...rest] = path.split('.')
  if (rest.length === 0) return { ...object, [name]: value }
  const inner = object[name]
  return { ...object, [name]: withValue(isObject(inner) ? inner : {}, rest.join('.'), value) }
}

/** Errors of the items of a list stand below their numbers. */
function messageOf(error: unknown): string | undefined {
  if (!isObject(error)) return undefined
  if (typeof error['message'] === 'string') return error['message']
  const [first] = Object.entries(error).flatMap(([at, inner]) => {
    const message = messageOf(inner)
    return message === undefined ? [] : [/^\d+$/.test(at) ? texts.atLine(Number(at) + 1, message) : message]
  })
  return first
}
