/**
 * The page at `/_/`, where the first superuser is made. Its link has a secret behind `#`, which browsers send to nobody. Providers of
 * OAuth2 send users to the page too.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

/** The secret stands behind it. */
export const SETUP_PATH = '/_/#/setup/'

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem; color-scheme: light dark }
h1 { font-size: 1.5rem }
label { display: block; margin: 1rem 0 }
input, button { display: block; box-sizing: border-box; width: 100%; padding: .5rem; font: inherit }
[role=alert] { color: #d33; white-space: pre-line }`

const SCRIPT = `
const at = (id) => document.getElementById(id)
const show = (id) => { for (const section of document.querySelectorAll('section')) section.hidden = section.id !== id }
function route() {
  if (location.hash.startsWith('#/setup/')) return show('setup')
  if (location.hash === '#/auth/oauth2-redirect-success') return show('success')
  show(location.hash === '#/auth/oauth2-redirect-failure' ? 'failure' : 'home')
}
async function make() {
  const [email, password, passwordConfirm] = ['email', 'password', 'again'].map((id) => at(id).value)
  const response = await fetch('../api/collections/_superusers/records', {
    method: 'POST',
    headers: { authorization: location.hash.slice('#/setup/'.length), 'content-type': 'application/json' },
    body: JSON.stringify({ email, password, passwordConfirm }),
  })
  if (response.ok) {
    history.replaceState(null, '', location.pathname)
    at('made').textContent = email
    return show('done')
  }
  const { message, data } = await response.json()
  const wrong = Object.entries(data).map(([name, error]) => name + ': ' + error.message)
  at('error').textContent = response.status === 403
    ? 'This link has ended: 30 minutes are over, or a superuser was made. If there is none, start the server again for a new link.'
    : [message, ...wrong].join('\\n')
}
at('form').addEventListener('submit', async (event) => {
  event.preventDefault()
  at('error').textContent = ''
  at('submit').disabled = true
  await make().catch(() => { at('error').textContent = 'The server does not answer. Try again.' })
  at('submit').disabled = false
})
addEventListener('hashchange', route)
route()`

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Pannier</title>
<style>${STYLE}</style>
<main>
<section id="setup" hidden>
<h1>Make the first superuser</h1>
<p>A superuser may read and change everything on this server.</p>
<form id="form">
<label>E-mail address <input id="email" type="email" autocomplete="username" required></label>
<label>Password <input id="password" type="password" autocomplete="new-password" minlength="8" required></label>
<label>The password again <input id="again" type="password" autocomplete="new-password" required></label>
<p id="error" role="alert"></p>
<button id="submit">Make the superuser</button>
</form>
</section>
<section id="done" hidden>
<h1>The superuser is made</h1>
<p><b id="made"></b> can log in now: with the PocketBase SDK by <code>pb.collection('_superusers').authWithPassword(…)</code>, and at
CouchDB's API as an admin.</p>
</section>
<section id="success" hidden><h1>You are logged in</h1><p>You can close this window.</p></section>
<section id="failure" hidden><h1>The login has failed</h1><p>Close this window, and try again.</p></section>
<section id="home"><h1>Pannier runs</h1><p>Apps find its API at <code>/api/</code>, CouchDB's clients at <code>/</code>.</p></section>
</main>
<script>${SCRIPT}</script>
</html>
`

const POLICY = [
  "default-src 'none'",
  "connect-src 'self'",
  `script-src '${hashOf(SCRIPT)}'`,
  `style-src '${hashOf(STYLE)}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function setupPage(app: FastifyInstance): void {
  app.get('/_/', { config: { needs: 'anyone' } }, (_request, reply) =>
    reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': POLICY,
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
      })
      .send(PAGE),
  )
}

/** As a policy names a script or a style that may run. */
function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
