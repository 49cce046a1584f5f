/** The providers of OAuth2 that PocketBase knows, in its order. Logins by them come later. */

interface KnownProvider {
  readonly name: string
  readonly displayName: string
  /** SVG, or `''`. */
  readonly logo: string
}

const NAMES: readonly (readonly [name: string, displayName: string])[] = [
  ['apple', 'Apple'],
  ['google', 'Google'],
  ['microsoft', 'Microsoft'],
  ['yandex', 'Yandex'],
  ['facebook', 'Facebook'],
  ['instagram2', 'Instagram'],
  ['github', 'GitHub'],
  ['gitlab', 'GitLab'],
  ['bitbucket', 'Bitbucket'],
  ['gitee', 'Gitee'],
  ['gitea', 'Gitea/Forgejo'],
  ['discord', 'Discord'],
  ['twitter', 'X/Twitter'],
  ['kakao', 'Kakao'],
  ['vk', 'ВКонтакте'],
  ['linear', 'Linear'],
  ['notion', 'Notion'],
  ['monday', 'monday.com'],
  ['lark', 'Lark'],
  ['box', 'Box'],
  ['spotify', 'Spotify'],
  ['trakt', 'Trakt'],
  ['twitch', 'Twitch'],
  ['patreon', 'Patreon'],
  ['strava', 'Strava'],
  ['wakatime', 'WakaTime'],
  ['livechat', 'LiveChat'],
  ['mailcow', 'mailcow'],
  ['planningcenter', 'Planning Center'],
  ['oidc', 'OIDC'],
  ['oidc2', 'OIDC'],
  ['oidc3', 'OIDC'],
]

/** The name, display name and logo of each. */
export function knownProviders(): readonly KnownProvider[] {
  return NAMES.map(([name, displayName]) => ({ displayName, logo: '', name }))
}
