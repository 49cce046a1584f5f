/** Deletes what this device keeps, before its superuser signs out. */
import { confirm } from '../../state/question.ts'
import { reportError } from '../../parts/toasts.tsx'
import { device } from '../../state/device/device.ts'
import { wipe } from '../../state/device/device-replica.ts'
import { DEVICE } from '../../texts/device.ts'

const { leave: texts } = DEVICE.away

/** False: writes wait, and the superuser wants to keep them. */
export async function isLeft(): Promise<boolean> {
  const { unsent = 0, rejected = 0 } = device.get().state ?? {}
  const question = { title: texts.title, text: texts.text(unsent, rejected), yes: texts.yes, isDanger: true }
  if (unsent + rejected > 0 && !(await confirm(question))) return false
  await wipe({ discard: unsent + rejected > 0 }).catch(reportError)
  return true
}
