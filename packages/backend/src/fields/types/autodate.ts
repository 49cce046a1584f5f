/** Fields of type `autodate`: the server sets them. */
import type { FieldBase } from '../field-base.ts'
import { DIFFERENT, fieldError } from '../field-errors.ts'
import type { FieldType } from '../field-type.ts'
import { flagOption } from '../options.ts'
import { ONE_TIME } from '../text-fields.ts'

export interface AutodateField extends FieldBase {
  readonly type: 'autodate'
  readonly onCreate: boolean
  readonly onUpdate: boolean
}

const NO_CHOICE = fieldError('validation_required', 'Either onCreate or onUpdate must be enabled.')

export const AUTODATE: FieldType<AutodateField> = {
  ...ONE_TIME,
  isAutomatic: true,
  options: { onCreate: flagOption, onUpdate: flagOption },
  fill: ({ onCreate, onUpdate }, value, { isNew, now }) => ((isNew ? onCreate : onUpdate) ? now : value),
  check: () => undefined,
  checkOptions({ onCreate, onUpdate, system }, { old }) {
    const before = old !== undefined && system ? old : { onCreate, onUpdate }
    const missing = onCreate || onUpdate ? undefined : NO_CHOICE
    return {
      onCreate: onCreate === before.onCreate ? missing : DIFFERENT,
      onUpdate: onUpdate === before.onUpdate ? missing : DIFFERENT,
    }
  },
}
