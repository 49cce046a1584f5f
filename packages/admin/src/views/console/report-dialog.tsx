/** Makes or changes a report. Its parameters are those that the query names. */
import type { ReportParameter } from '@pannier/backend'
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import { PARAMETER_TYPES, saveReport } from '../../api/reports.ts'
import type { Report } from '../../api/reports.ts'
import { ApiError } from '../../api/request.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { CONSOLE } from '../../texts/console.ts'
import { RuleInput } from '../rule-input.tsx'
import { parametersOf } from './parameters.ts'
import { SqlEditor } from './sql-editor.tsx'

const { reports: texts } = CONSOLE

/** A rule of a report is about the request, and about no record. */
const NO_RECORD = { id: '$report', name: '$report', type: 'base', system: true, fields: [] } as unknown as Collection

interface ReportDialogProps {
  readonly report: Report
  /** The name of the stored one that changes. */
  readonly old?: string
  readonly onClose: () => void
  readonly onSaved: () => unknown
}

export function ReportDialog({ report, old, onClose, onSaved }: ReportDialogProps): ReactNode {
  const [values, setValues] = useState(report)
  const [errors, setErrors] = useState<ApiError['fields']>({})
  const set = (change: Partial<Report>): void => setValues({ ...values, ...change })
  const parameters = parametersOf(values.query, values.parameters)
  const save = async (): Promise<string | undefined> => {
    setErrors({})
    try {
      await saveReport({ ...values, name: values.name.trim(), parameters }, old)
      showDone(texts.saved(values.name.trim()))
      await onSaved()
      onClose()
      return undefined
    } catch (error) {
      if (!(error instanceof ApiError) || Object.keys(error.fields).length === 0) return errorText(error)
      setErrors(error.fields)
      return error.fields['parameters'] === undefined ? undefined : texts.wrongParameters
    }
  }
  return (
    <Dialog title={old === undefined ? texts.save : texts.change(old)} place="side" onClose={onClose}>
      <Form onSubmit={save} submit={texts.submit}>
        <TextInput
          label={texts.name}
          help={texts.nameHelp}
          value={values.name}
          onValue={(name) => set({ name })}
          error={errors['name']?.message}
          autoComplete="off"
        />
        <TextInput
          label={texts.description}
          value={values.description}
          onValue={(description) => set({ description })}
          error={errors['description']?.message}
        />
        <FormField label={texts.query} error={errors['query']?.message}>
          {(control) => (
            <SqlEditor label={texts.query} control={control} value={values.query} onValue={(query) => set({ query })} />
          )}
        </FormField>
        <Parameters parameters={parameters} onChange={(changed) => set({ parameters: changed })} />
        <div className="field">
          <span className="field-label">{texts.rule}</span>
          <RuleInput
            collection={NO_RECORD}
            label={texts.rule}
            value={values.rule}
            onValue={(rule) => set({ rule: rule ?? null })}
            error={errors['rule']?.message}
          />
          <p className="field-help">{texts.ruleHelp}</p>
        </div>
      </Form>
    </Dialog>
  )
}

interface ParametersProps {
  readonly parameters: readonly ReportParameter[]
  readonly onChange: (parameters: readonly ReportParameter[]) => void
}

function Parameters({ parameters, onChange }: ParametersProps): ReactNode {
  return (
    <fieldset className="field">
      <legend className="field-label">{texts.parameters}</legend>
      <p className="field-help">{parameters.length === 0 ? texts.noParameters : texts.parametersHelp}</p>
      {parameters.map((one) => (
        <Parameter
          key={one.name}
          parameter={one}
          onChange={(changed) => onChange(parameters.map((other) => (other.name === changed.name ? changed : other)))}
        />
      ))}
    </fieldset>
  )
}

interface ParameterProps {
  readonly parameter: ReportParameter
  readonly onChange: (parameter: ReportParameter) => void
}

function Parameter({ parameter, onChange }: ParameterProps): ReactNode {
  const { name, type, default: otherwise } = parameter
  return (
    <div className="parameter">
      <code>:{name}</code>
      <select
        className="input"
        aria-label={texts.typeOf(name)}
        value={type}
        onChange={({ target }) => onChange({ ...parameter, type: target.value as ReportParameter['type'] })}
      >
        {PARAMETER_TYPES.map((one) => (
          <option key={one} value={one}>
            {texts.types[one]}
          </option>
        ))}
      </select>
      <input
        className="input"
        aria-label={texts.defaultOf(name)}
        placeholder={texts.required}
        value={String(otherwise ?? '')}
        onChange={({ target }) => onChange({ name, type, ...(target.value !== '' && { default: target.value }) })}
      />
    </div>
  )
}
