/** Makes the first superuser, with the secret of the link that the server has printed. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { logInWithPassword, makeFirstSuperuser } from '../../api/accounts.ts'
import { ApiError } from '../../api/request.ts'
import { changeSettings } from '../../api/settings.ts'
import { Form } from '../../parts/form.tsx'
import { TextInput } from '../../parts/form-field.tsx'
import { goTo } from '../../state/route.ts'
import { signedIn } from '../../state/session.ts'
import { TEXTS } from '../../texts.ts'
import { Card } from './card.tsx'

const { setup, signIn } = TEXTS

export function Setup({ secret }: { readonly secret: string }): ReactNode {
  const [appName, setAppName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({})
  const submit = async (): Promise<string | undefined> => {
    setErrors({})
    if (password !== again) {
      setErrors({ again: setup.notTheSame })
      return undefined
    }
    try {
      await makeFirstSuperuser(secret, email, password)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status === 403) return setup.linkEnded
      const wrong = Object.entries(error.fields)
      if (wrong.length === 0) throw error
      setErrors(Object.fromEntries(wrong.map(([name, { message }]) => [name, message])))
      return undefined
    }
    const login = await logInWithPassword(email, password)
    goTo([], {}, { replaces: true })
    if ('token' in login) {
      signedIn(login)
      if (appName.trim() !== '') await changeSettings({ meta: { appName: appName.trim(), appURL: location.origin } })
    }
    return undefined
  }
  const newPassword = { type: 'password', autoComplete: 'new-password', required: true } as const
  return (
    <Card title={setup.title} text={setup.text}>
      <Form isDraft={false} onSubmit={submit} submit={setup.submit}>
        <TextInput
          label={signIn.email}
          value={email}
          onValue={setEmail}
          error={errors['email']}
          type="email"
          autoComplete="username"
          required
          autoFocus
        />
        <TextInput
          label={signIn.password}
          help={setup.passwordHelp}
          value={password}
          onValue={setPassword}
          error={errors['password']}
          {...newPassword}
        />
        <TextInput label={setup.again} value={again} onValue={setAgain} error={errors['again']} {...newPassword} />
        <TextInput
          label={setup.appName}
          help={setup.appNameHelp}
          value={appName}
          onValue={setAppName}
          autoComplete="off"
        />
      </Form>
    </Card>
  )
}
