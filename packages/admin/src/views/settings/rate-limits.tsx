/** How often something may be asked for: a table of rules that is edited in place. */
import type { ReactNode } from 'react'
import type { RateLimitRule } from '../../api/settings.ts'
import { Button } from '../../parts/button.tsx'
import { OPERATIONS } from '../../texts/operations.ts'
import { useDraftValue } from '../settings-form.tsx'

const { settings: texts } = OPERATIONS
const PATH = 'rateLimits.rules'
const NEW: RateLimitRule = { label: '', audience: '', duration: 10, maxRequests: 100 }
/** The id of what a label may be. */
const LABELS = 'limit-labels'
const AUDIENCES = ['', '@guest', '@auth'] as const

interface RateLimitsProps {
  /** Labels for completion. */
  readonly labels: readonly string[]
}

export function RateLimits({ labels }: RateLimitsProps): ReactNode {
  const { value, onValue, error } = useDraftValue(PATH)
  const rules = (value ?? []) as readonly RateLimitRule[]
  return (
    <fieldset className="limits">
      <legend className="field-label">{texts.rules}</legend>
      <p className="field-help">{texts.rulesHelp}</p>
      {rules.map((rule, at) => (
        <RuleRow
          key={at}
          at={at}
          rule={rule}
          onRule={(next) => onValue(rules.map((one, place) => (place === at ? next : one)))}
          onRemove={() => onValue(rules.filter((_rule, place) => place !== at))}
        />
      ))}
      <datalist id={LABELS}>
        {labels.map((label) => (
          <option key={label} value={label} />
        ))}
      </datalist>
      {rules.length === 0 && error !== undefined && <p className="field-error">{error}</p>}
      <div>
        <Button kind="quiet" icon="add" onPress={() => onValue([...rules, NEW])}>
          {texts.addRule}
        </Button>
      </div>
    </fieldset>
  )
}

interface RuleRowProps {
  readonly at: number
  readonly rule: RateLimitRule
  readonly onRule: (rule: RateLimitRule) => void
  readonly onRemove: () => void
}

function RuleRow({ at, rule, onRule, onRemove }: RuleRowProps): ReactNode {
  const number = at + 1
  return (
    <div className="limits-row" role="group" aria-label={texts.rule(number)}>
      <Cell title={texts.ruleLabel}>
        <input
          className="input"
          list={LABELS}
          aria-label={texts.ofRule(texts.ruleLabel, number)}
          spellCheck={false}
          value={rule.label}
          onChange={({ target }) => onRule({ ...rule, label: target.value })}
        />
      </Cell>
      <Cell title={texts.maxRequests}>
        <NumberCell
          label={texts.ofRule(texts.maxRequests, number)}
          value={rule.maxRequests}
          onValue={(maxRequests) => onRule({ ...rule, maxRequests })}
        />
      </Cell>
      <Cell title={texts.duration}>
        <NumberCell
          label={texts.ofRule(texts.duration, number)}
          value={rule.duration}
          onValue={(duration) => onRule({ ...rule, duration })}
        />
      </Cell>
      <Cell title={texts.audience}>
        <select
          className="input"
          aria-label={texts.ofRule(texts.audience, number)}
          value={rule.audience}
          onChange={({ target }) => onRule({ ...rule, audience: target.value })}
        >
          {AUDIENCES.map((audience) => (
            <option key={audience} value={audience}>
              {texts.audiences[audience]}
            </option>
          ))}
        </select>
      </Cell>
      <Button kind="quiet" icon="trash" label={texts.removeRule(number)} onPress={onRemove} />
      <RuleErrors at={at} />
    </div>
  )
}

function Cell({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="limits-cell">
      <span aria-hidden="true">{title}</span>
      {children}
    </div>
  )
}

interface NumberCellProps {
  readonly label: string
  readonly value: number
  readonly onValue: (value: number) => void
}

function NumberCell({ label, value, onValue }: NumberCellProps): ReactNode {
  return (
    <input
      type="number"
      min={1}
      className="input"
      aria-label={label}
      value={value}
      onChange={({ target }) => onValue(Number(target.value))}
    />
  )
}

function RuleErrors({ at }: { readonly at: number }): ReactNode {
  const { error } = useDraftValue(`${PATH}.${at}`)
  return (
    error !== undefined && (
      <p className="field-error" role="alert">
        {error}
      </p>
    )
  )
}
