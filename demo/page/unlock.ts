/** Opens the copy. A locked copy is encrypted: asks for its password, once a tab. */
import { isPannierError } from 'pannier'
import { byId } from '../../tools/web/dom.ts'
import { hasCopy, isUnlocked, LOCKED, openCopy, unlockWith } from './copy.ts'
import type { OpenCopy } from './copy.ts'

/** Undefined when the visitor gives no password. */
export async function openUnlocked(): Promise<OpenCopy | undefined> {
  const isNew = LOCKED && !(await hasCopy())
  for (let isWrong = false; ; isWrong = true) {
    if (LOCKED && !isUnlocked()) {
      const password = await askPassword(isNew, isWrong)
      if (password === undefined) return undefined
      unlockWith(password)
    }
    try {
      return await openCopy()
    } catch (error) {
      unlockWith(undefined)
      if (!isPannierError(error, 'PANNIER_KEY_WRONG')) throw error
    }
  }
}

function askPassword(isNew: boolean, isWrong: boolean): Promise<string | undefined> {
  const dialog = byId<HTMLDialogElement>('unlock')
  const password = byId<HTMLInputElement>('unlock-password')
  byId('unlock-title').textContent = isNew ? 'Choose a password' : 'This copy is locked'
  byId('unlock-text').textContent = isNew
    ? 'Everything in this copy is encrypted with it. Nobody can help if it is forgotten: the copy can only be deleted then.'
    : 'Its password opens it.'
  byId('unlock-yes').textContent = isNew ? 'Make the copy' : 'Unlock'
  byId('unlock-wrong').hidden = !isWrong
  password.value = ''
  return new Promise((resolve) => {
    let given: string | undefined
    dialog.onsubmit = () => {
      given = password.value
    }
    byId('unlock-cancel').onclick = () => dialog.close()
    dialog.onclose = () => resolve(given)
    dialog.showModal()
  })
}
