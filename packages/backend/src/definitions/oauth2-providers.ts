/**
 * The providers of OAuth2 that PocketBase knows, in its order, as data: where they are, what they are asked for, and how to read
 * their answers. A definition may say other URLs.
 */

/** A path into an answer, `data.0.id`, or a text with such paths: `{first_name} {last_name}`. `a|b`: `b` where there is no `a`. */
type Text = string

/** An e-mail address that counts only where all paths of `verified` say yes. */
export interface EmailPaths {
  readonly email: Text
  readonly verified?: readonly string[]
}

/** Paths in a provider's answer about a user. */
interface UserPaths extends Partial<EmailPaths> {
  readonly id: string
  readonly name?: Text
  readonly username?: Text
  /** True if the username is the part before the `@`. */
  readonly usernameIsAddress?: boolean
  readonly avatarURL?: Text
  /** The picture counts only where this path says yes; `!path`: no. */
  readonly avatarShown?: string
  /** Users with another value can't log in. */
  readonly active?: readonly [path: string, value: unknown]
}

/** Another request for e-mails, for addresses that the answer about a user does not tell. */
interface EmailsRequest {
  /** Beginning with `/`: behind the URL of the user. */
  readonly url: string
  /** Where the answer has the list; '' if it is the list. */
  readonly list: string
  /** Properties of the entry with the address that counts. */
  readonly where: Readonly<Record<string, unknown>>
  /** Whether it is a fallback: asked only if the answer about the user has no address. */
  readonly isFallback?: boolean
}

/** How to ask for the user. `{clientId}` stands for that of the definition. */
interface UserRequest {
  readonly headers?: Readonly<Record<string, string>>
  /** The query, in GraphQL. */
  readonly query?: string
}

/** The facts of a provider that hold for each definition. */
export interface KnownProvider {
  readonly displayName: string
  /** The initials on the logo. */
  readonly initials: string
  /** The ground of the logo. */
  readonly color: string
  readonly scopes: readonly string[]
  readonly authURL: string
  readonly tokenURL: string
  /** Empty: the `id_token` tells the user. */
  readonly userInfoURL: string
  /** False where a provider refuses PKCE. */
  readonly pkce: boolean
  readonly user: UserPaths
  readonly userRequest?: UserRequest
  readonly emails?: EmailsRequest
  /** Further parameters of the URL that a user opens. */
  readonly authParameters?: Readonly<Record<string, string>>
  /** Fields of the answer with the token that are about the user. */
  readonly fromToken?: readonly string[]
  /** The signer of `id_token`s, if it is always the same. */
  readonly idToken?: { readonly jwksURL: string; readonly issuers: readonly string[] }
  /** Where an `id_token` has the address, by `extra.idTokenEmailClaim`. */
  readonly idTokenEmail?: Readonly<Record<string, readonly EmailPaths[]>>
}

const VERIFIED_PRIMARY = { email: 'verified_primary_email.0|verified_primary_email' }
const VERIFIED_DOMAIN = { email: 'email', verified: ['xms_edov'] }

type Shown = Pick<KnownProvider, 'displayName' | 'initials' | 'color'>
/** A provider as it is declared here: `pkce` is true when left out, and a URL is empty. */
type Declared = Partial<KnownProvider> & Shown & Pick<KnownProvider, 'scopes' | 'user'>

function shown(displayName: string, color: string, initials: string = displayName[0]!): Shown {
  return { displayName, color, initials }
}

const OIDC: Declared = {
  ...shown('OIDC', '#f78c40', 'ID'),
  scopes: ['openid', 'email', 'profile'],
  user: {
    id: 'sub',
    name: 'name',
    username: 'preferred_username',
    avatarURL: 'picture',
    email: 'email',
    verified: ['email_verified'],
  },
}

const PROVIDERS: Readonly<Record<string, Declared>> = {
  apple: {
    ...shown('Apple', '#1d1d1f'),
    scopes: ['name', 'email'],
    authURL: 'https://appleid.apple.com/auth/authorize',
    tokenURL: 'https://appleid.apple.com/auth/token',
    user: { id: 'sub', name: 'name', email: 'email', verified: ['email_verified'] },
    authParameters: { response_mode: 'form_post' },
    idToken: { jwksURL: 'https://appleid.apple.com/auth/keys', issuers: ['https://appleid.apple.com'] },
  },
  google: {
    ...shown('Google', '#4285f4'),
    scopes: ['https://www.googleapis.com/auth/userinfo.profile', 'https://www.googleapis.com/auth/userinfo.email'],
    authURL: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenURL: 'https://oauth2.googleapis.com/token',
    userInfoURL: 'https://www.googleapis.com/oauth2/v3/userinfo',
    user: { id: 'sub', name: 'name', avatarURL: 'picture', email: 'email', verified: ['email_verified'] },
  },
  microsoft: {
    ...shown('Microsoft', '#00a4ef'),
    scopes: ['User.Read'],
    authURL: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenURL: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    userInfoURL: 'https://graph.microsoft.com/v1.0/me',
    user: { id: 'id', name: 'displayName', email: 'mail' },
    idTokenEmail: {
      any_verified: [VERIFIED_PRIMARY, VERIFIED_DOMAIN],
      verified_primary_email: [VERIFIED_PRIMARY],
      email_and_xms_edov: [VERIFIED_DOMAIN],
      email: [{ email: 'email' }],
    },
  },
  yandex: {
    ...shown('Yandex', '#fc3f1d', 'Ya'),
    scopes: ['login:email', 'login:avatar', 'login:info'],
    authURL: 'https://oauth.yandex.com/authorize',
    tokenURL: 'https://oauth.yandex.com/token',
    userInfoURL: 'https://login.yandex.ru/info',
    user: {
      id: 'id',
      name: 'real_name',
      username: 'login',
      email: 'default_email',
      avatarURL: 'https://avatars.yandex.net/get-yapic/{default_avatar_id}/islands-200',
      avatarShown: '!is_avatar_empty',
    },
  },
  facebook: {
    ...shown('Facebook', '#0866ff', 'f'),
    scopes: ['email'],
    authURL: 'https://www.facebook.com/v3.2/dialog/oauth',
    tokenURL: 'https://graph.facebook.com/v3.2/oauth/access_token',
    userInfoURL: 'https://graph.facebook.com/me?fields=name,email,picture.type(large)',
    user: { id: 'id', name: 'name', avatarURL: 'picture.data.url', email: 'email' },
  },
  instagram2: {
    ...shown('Instagram', '#d300c5', 'Ig'),
    scopes: ['instagram_business_basic'],
    authURL: 'https://www.instagram.com/oauth/authorize',
    tokenURL: 'https://api.instagram.com/oauth/access_token',
    userInfoURL:
      'https://graph.instagram.com/me?fields=id,username,account_type,user_id,name,profile_picture_url,followers_count,follows_count,media_count',
    user: { id: 'user_id', name: 'name', username: 'username', avatarURL: 'profile_picture_url' },
    fromToken: ['permissions'],
  },
  github: {
    ...shown('GitHub', '#24292f', 'Gh'),
    scopes: ['read:user', 'user:email'],
    authURL: 'https://github.com/login/oauth/authorize',
    tokenURL: 'https://github.com/login/oauth/access_token',
    userInfoURL: 'https://api.github.com/user',
    user: { id: 'id', name: 'name', username: 'login', avatarURL: 'avatar_url' },
    emails: { url: '/emails', list: '', where: { verified: true, primary: true } },
  },
  gitlab: {
    ...shown('GitLab', '#fc6d26', 'Gl'),
    scopes: ['read_user'],
    authURL: 'https://gitlab.com/oauth/authorize',
    tokenURL: 'https://gitlab.com/oauth/token',
    userInfoURL: 'https://gitlab.com/api/v4/user',
    user: {
      id: 'id',
      name: 'name',
      username: 'username',
      avatarURL: 'avatar_url',
      email: 'email',
      verified: ['confirmed_at'],
    },
  },
  bitbucket: {
    ...shown('Bitbucket', '#0c66e4', 'Bb'),
    scopes: ['account'],
    authURL: 'https://bitbucket.org/site/oauth2/authorize',
    tokenURL: 'https://bitbucket.org/site/oauth2/access_token',
    userInfoURL: 'https://api.bitbucket.org/2.0/user',
    pkce: false,
    user: {
      id: 'uuid',
      name: 'display_name',
      username: 'username',
      avatarURL: 'links.avatar.href',
      active: ['account_status', 'active'],
    },
    emails: { url: '/emails', list: 'values', where: { is_primary: true, is_confirmed: true } },
  },
  gitee: {
    ...shown('Gitee', '#c71d23', 'Ge'),
    scopes: ['user_info', 'emails'],
    authURL: 'https://gitee.com/oauth/authorize',
    tokenURL: 'https://gitee.com/oauth/token',
    userInfoURL: 'https://gitee.com/api/v5/user',
    user: { id: 'id', name: 'name', username: 'login', avatarURL: 'avatar_url', email: 'email' },
    emails: {
      url: 'https://gitee.com/api/v5/emails',
      list: '',
      where: { state: 'confirmed', scope: 'primary' },
      isFallback: true,
    },
  },
  gitea: {
    ...shown('Gitea/Forgejo', '#609926', 'Gt'),
    scopes: ['read:user', 'user:email'],
    authURL: 'https://gitea.com/login/oauth/authorize',
    tokenURL: 'https://gitea.com/login/oauth/access_token',
    userInfoURL: 'https://gitea.com/api/v1/user',
    user: { id: 'id', name: 'full_name', username: 'login', avatarURL: 'avatar_url', active: ['active', true] },
    emails: { url: '/emails', list: '', where: { verified: true, primary: true } },
  },
  discord: {
    ...shown('Discord', '#5865f2'),
    scopes: ['identify', 'email'],
    authURL: 'https://discord.com/api/oauth2/authorize',
    tokenURL: 'https://discord.com/api/oauth2/token',
    userInfoURL: 'https://discord.com/api/users/@me',
    user: {
      id: 'id',
      name: 'global_name|username',
      username: 'username',
      avatarURL: 'https://cdn.discordapp.com/avatars/{id}/{avatar}.png',
      email: 'email',
      verified: ['verified'],
    },
  },
  twitter: {
    ...shown('X/Twitter', '#0f1419'),
    // `users/me` refuses tokens without `tweet.read`.
    scopes: ['users.read', 'users.email', 'tweet.read'],
    authURL: 'https://x.com/i/oauth2/authorize',
    tokenURL: 'https://api.x.com/2/oauth2/token',
    userInfoURL: 'https://api.x.com/2/users/me?user.fields=id,name,username,profile_image_url,confirmed_email',
    user: {
      id: 'data.id',
      name: 'data.name',
      username: 'data.username',
      avatarURL: 'data.profile_image_url',
      email: 'data.confirmed_email',
    },
  },
  kakao: {
    ...shown('Kakao', '#b39700'),
    scopes: ['account_email', 'profile_nickname', 'profile_image'],
    authURL: 'https://kauth.kakao.com/oauth/authorize',
    tokenURL: 'https://kauth.kakao.com/oauth/token',
    userInfoURL: 'https://kapi.kakao.com/v2/user/me',
    user: {
      id: 'id',
      username: 'properties.nickname',
      avatarURL: 'properties.profile_image',
      email: 'kakao_account.email',
      verified: ['kakao_account.is_email_valid', 'kakao_account.is_email_verified'],
    },
  },
  vk: {
    ...shown('ВКонтакте', '#0077ff', 'VK'),
    scopes: ['email'],
    authURL: 'https://oauth.vk.com/authorize',
    tokenURL: 'https://oauth.vk.com/access_token',
    userInfoURL: 'https://api.vk.com/method/users.get?fields=photo_max,screen_name&v=5.131',
    pkce: false,
    user: {
      id: 'response.0.id',
      name: '{response.0.first_name} {response.0.last_name}',
      username: 'response.0.screen_name',
      avatarURL: 'response.0.photo_max',
      email: 'email',
    },
    fromToken: ['email'],
  },
  linear: {
    ...shown('Linear', '#5e6ad2', 'Li'),
    scopes: ['read'],
    authURL: 'https://linear.app/oauth/authorize',
    tokenURL: 'https://api.linear.app/oauth/token',
    userInfoURL: 'https://api.linear.app/graphql',
    pkce: false,
    user: {
      id: 'data.viewer.id',
      name: 'data.viewer.name',
      username: 'data.viewer.displayName',
      avatarURL: 'data.viewer.avatarUrl',
      email: 'data.viewer.email',
      active: ['data.viewer.active', true],
    },
    userRequest: { query: 'query { viewer { id name displayName email avatarUrl active } }' },
  },
  notion: {
    ...shown('Notion', '#191919'),
    scopes: [],
    authURL: 'https://api.notion.com/v1/oauth/authorize',
    tokenURL: 'https://api.notion.com/v1/oauth/token',
    userInfoURL: 'https://api.notion.com/v1/users/me',
    user: {
      id: 'bot.owner.user.id',
      name: 'bot.owner.user.name',
      avatarURL: 'bot.owner.user.avatar_url',
      email: 'bot.owner.user.person.email',
    },
    userRequest: { headers: { 'notion-version': '2022-06-28' } },
  },
  monday: {
    ...shown('monday.com', '#6161ff'),
    scopes: ['me:read'],
    authURL: 'https://auth.monday.com/oauth2/authorize',
    tokenURL: 'https://auth.monday.com/oauth2/token',
    userInfoURL: 'https://api.monday.com/v2',
    user: {
      id: 'data.me.id',
      name: 'data.me.name',
      avatarURL: 'data.me.photo_small',
      email: 'data.me.email',
      verified: ['data.me.is_verified'],
      active: ['data.me.enabled', true],
    },
    userRequest: { query: 'query { me { id name email is_verified enabled photo_small } }' },
  },
  lark: {
    ...shown('Lark', '#00b2a6', 'La'),
    scopes: [],
    authURL: 'https://accounts.feishu.cn/open-apis/authen/v1/authorize',
    tokenURL: 'https://open.feishu.cn/open-apis/authen/v2/oauth/token',
    userInfoURL: 'https://open.feishu.cn/open-apis/authen/v1/user_info',
    user: { id: 'data.union_id', name: 'data.name', avatarURL: 'data.avatar_url' },
  },
  box: {
    ...shown('Box', '#0061d5'),
    scopes: ['root_readonly'],
    authURL: 'https://account.box.com/api/oauth2/authorize',
    tokenURL: 'https://api.box.com/oauth2/token',
    userInfoURL: 'https://api.box.com/2.0/users/me',
    user: { id: 'id', name: 'name', avatarURL: 'avatar_url', email: 'login', active: ['status', 'active'] },
  },
  spotify: {
    ...shown('Spotify', '#1a8f43'),
    scopes: ['user-read-private'],
    authURL: 'https://accounts.spotify.com/authorize',
    tokenURL: 'https://accounts.spotify.com/api/token',
    userInfoURL: 'https://api.spotify.com/v1/me',
    // Nobody has verified the address that it tells.
    user: { id: 'id', name: 'display_name', avatarURL: 'images.0.url' },
  },
  trakt: {
    ...shown('Trakt', '#9f42c6', 'Tr'),
    scopes: [],
    authURL: 'https://trakt.tv/oauth/authorize',
    tokenURL: 'https://api.trakt.tv/oauth/token',
    userInfoURL: 'https://api.trakt.tv/users/settings',
    user: { id: 'user.ids.uuid', name: 'user.name', username: 'user.username', avatarURL: 'user.images.avatar.full' },
    userRequest: {
      headers: { 'content-type': 'application/json', 'trakt-api-key': '{clientId}', 'trakt-api-version': '2' },
    },
  },
  twitch: {
    ...shown('Twitch', '#9146ff', 'Tw'),
    scopes: ['user:read:email'],
    authURL: 'https://id.twitch.tv/oauth2/authorize',
    tokenURL: 'https://id.twitch.tv/oauth2/token',
    userInfoURL: 'https://api.twitch.tv/helix/users',
    user: {
      id: 'data.0.id',
      name: 'data.0.display_name',
      username: 'data.0.login',
      avatarURL: 'data.0.profile_image_url',
      email: 'data.0.email',
    },
    userRequest: { headers: { 'client-id': '{clientId}' } },
  },
  patreon: {
    ...shown('Patreon', '#ff424d'),
    scopes: ['identity', 'identity[email]'],
    authURL: 'https://www.patreon.com/oauth2/authorize',
    tokenURL: 'https://www.patreon.com/api/oauth2/token',
    userInfoURL:
      'https://www.patreon.com/api/oauth2/v2/identity?fields%5Buser%5D=full_name,email,vanity,image_url,is_email_verified',
    user: {
      id: 'data.id',
      name: 'data.attributes.full_name',
      username: 'data.attributes.vanity',
      avatarURL: 'data.attributes.image_url',
      email: 'data.attributes.email',
      verified: ['data.attributes.is_email_verified'],
    },
  },
  strava: {
    ...shown('Strava', '#fc4c02', 'St'),
    scopes: ['profile:read_all'],
    authURL: 'https://www.strava.com/oauth/authorize',
    tokenURL: 'https://www.strava.com/api/v3/oauth/token',
    userInfoURL: 'https://www.strava.com/api/v3/athlete',
    user: { id: 'id', name: '{firstname} {lastname}', username: 'username', avatarURL: 'profile' },
  },
  wakatime: {
    ...shown('WakaTime', '#2d2d2d'),
    scopes: ['email'],
    authURL: 'https://wakatime.com/oauth/authorize',
    tokenURL: 'https://wakatime.com/oauth/token',
    userInfoURL: 'https://wakatime.com/api/v1/users/current',
    user: {
      id: 'data.id',
      name: 'data.display_name',
      username: 'data.username',
      avatarURL: 'data.photo',
      avatarShown: 'data.photo_public',
      email: 'data.email',
      verified: ['data.is_email_confirmed'],
    },
  },
  livechat: {
    ...shown('LiveChat', '#ff5100', 'Lc'),
    scopes: [],
    authURL: 'https://accounts.livechat.com/',
    tokenURL: 'https://accounts.livechat.com/token',
    userInfoURL: 'https://accounts.livechat.com/v2/accounts/me',
    user: { id: 'account_id', name: 'name', avatarURL: 'avatar_url', email: 'email', verified: ['email_verified'] },
  },
  mailcow: {
    ...shown('mailcow', '#a08200', 'Mc'),
    scopes: ['profile'],
    user: {
      id: 'id',
      name: 'full_name',
      username: 'username',
      usernameIsAddress: true,
      email: 'email',
      active: ['active', 1],
    },
  },
  planningcenter: {
    ...shown('Planning Center', '#2266f7', 'Pc'),
    scopes: ['people'],
    authURL: 'https://api.planningcenteronline.com/oauth/authorize',
    tokenURL: 'https://api.planningcenteronline.com/oauth/token',
    userInfoURL: 'https://api.planningcenteronline.com/people/v2/me',
    // A user may have many addresses, and nothing says which are verified.
    user: {
      id: 'data.id',
      name: 'data.attributes.name',
      avatarURL: 'data.attributes.avatar',
      active: ['data.attributes.status', 'active'],
    },
  },
  oidc: OIDC,
  oidc2: OIDC,
  oidc3: OIDC,
}

/** Undefined for a name that no provider has. */
export function knownProvider(name: string): KnownProvider | undefined {
  return Object.hasOwn(PROVIDERS, name) ? whole(PROVIDERS[name]!) : undefined
}

/** The name, display name and logo of each, as PocketBase's API lists them. */
export function listProviders(): readonly object[] {
  return Object.entries(PROVIDERS).map(([name, known]) => ({
    name,
    displayName: known.displayName,
    logo: providerLogo(whole(known)),
  }))
}

function whole(declared: Declared): KnownProvider {
  return { pkce: true, authURL: '', tokenURL: '', userInfoURL: '', ...declared }
}

/** An SVG: the initials, white on the color. */
export function providerLogo({ initials, color }: KnownProvider): string {
  const size = initials.length === 1 ? 18 : 14
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' +
    `<rect width="32" height="32" rx="7" fill="${color}"/>` +
    `<text x="16" y="${16 + size * 0.36}" font-family="sans-serif" font-size="${size}" font-weight="700" ` +
    `text-anchor="middle" fill="#fff">${initials}</text></svg>`
  )
}
