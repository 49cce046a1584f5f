/** A rule as a choice: superusers only, everybody, or those who meet a condition, which is typed. */
import { useId, useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection, Rule } from '../api/collections.ts'
import { DEFINITION_TEXTS } from '../texts/definitions.ts'
import { RuleEditor, useRuleCheck } from './rule-editor.tsx'

const { ruleInput: texts } = DEFINITION_TEXTS
const LOGGED_IN = '@request.auth.id != ""'

type Kind = 'inherited' | 'nobody' | 'everybody' | 'rule'

interface RuleInputProps {
  readonly collection: Collection
  /** The name of the rule, for the controls. */
  readonly label: string
  /** Undefined: as `inherits` says. */
  readonly value: Rule | undefined
  readonly onValue: (value: Rule | undefined) => void
  /** The name of the rule that counts if there is no rule. */
  readonly inherits?: string
  /** Words for nobody and for everybody in rules about accounts. Without a word for nobody it can't be chosen. */
  readonly words?: { readonly nobody?: string; readonly everybody: string }
  readonly error?: string | undefined
  readonly isDisabled?: boolean
}

export function RuleInput({
  collection,
  label,
  value,
  onValue,
  inherits,
  words = texts,
  error,
  isDisabled = false,
}: RuleInputProps): ReactNode {
  const id = useId()
  const mistakesIn = useRuleCheck(collection)
  const [isTyped, setTyped] = useState(false)
  // A text that was cleared waits for another one. Until then it is no rule for everybody.
  const kind = isTyped && value === null ? 'rule' : kindOf(value)
  const text = value ?? ''
  const [mistake] = kind === 'rule' && text !== '' ? mistakesIn(text) : []
  const shown = { inherited: inherits, ...words, rule: texts.rule }
  const kinds = (['inherited', 'nobody', 'everybody', 'rule'] as const).filter((one) => shown[one] !== undefined)
  const choose = (chosen: Kind): void => {
    setTyped(chosen === 'rule')
    if (chosen === 'rule') return onValue(LOGGED_IN)
    onValue(chosen === 'inherited' ? undefined : chosen === 'nobody' ? null : '')
  }
  return (
    <div className={`rule ${mistake === undefined && error === undefined ? '' : 'field-wrong'}`}>
      <fieldset className="rule-kinds" disabled={isDisabled}>
        <legend className="hidden-text">{texts.who(label)}</legend>
        {kinds.map((one) => (
          <label key={one}>
            <input type="radio" name={id} checked={kind === one} onChange={() => choose(one)} />
            <span>{shown[one]}</span>
          </label>
        ))}
      </fieldset>
      {kind === 'rule' && (
        <div className="rule-text">
          <RuleEditor
            collection={collection}
            label={label}
            value={text}
            onValue={(next) => {
              setTyped(true)
              onValue(next.trim() === '' ? null : next)
            }}
            hint={LOGGED_IN}
          />
        </div>
      )}
      {kind === 'rule' && text === '' && <p className="field-help">{texts.empty}</p>}
      {mistake !== undefined && (
        <p className="field-error" role="alert">
          {texts.at(mistake.at + 1, mistake.message)}
        </p>
      )}
      {error !== undefined && mistake === undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

function kindOf(value: Rule | undefined): Kind {
  if (value === undefined) return 'inherited'
  return value === null ? 'nobody' : value === '' ? 'everybody' : 'rule'
}
