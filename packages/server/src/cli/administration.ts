/** Actions of the command line on users and databases, and the `_security` objects that it writes. */
export interface NewUser {
  readonly name: string
  readonly password: string
  readonly roles: readonly string[]
  /** For an admin of the server, who has no roles. Only in the file of a server that does not run. */
  readonly isAdmin: boolean
}

export interface KnownUser {
  readonly name: string
  readonly roles: readonly string[]
  readonly isAdmin: boolean
}

/** The users and roles that may use a database. */
export interface Access {
  readonly members: readonly string[]
  readonly memberRoles: readonly string[]
  readonly admins: readonly string[]
  /** Whether it is public: everybody may read and write, without a login. */
  readonly isPublic: boolean
}

export interface KnownDatabase {
  readonly name: string
  readonly documents: number
  readonly security: Security
}

/** The security of a database, as CouchDB has it. */
export interface Security {
  readonly members: Names
  readonly admins: Names
}

export interface Names {
  readonly names: readonly string[]
  readonly roles: readonly string[]
}

/** An administration, which fails with FailedErrors. */
export interface Administration {
  users(): Promise<KnownUser[]>
  addUser(user: NewUser): Promise<void>
  setPassword(name: string, password: string): Promise<void>
  removeUser(name: string): Promise<void>
  databases(): Promise<KnownDatabase[]>
  createDatabase(name: string): Promise<void>
  security(name: string): Promise<Security>
  setSecurity(name: string, security: Security): Promise<void>
}

export function isThere(database: string): string {
  return `There is a database ${database} already. \`pannier db grant ${database}\` lets users in.`
}

export function isMissing(database: string): string {
  return `There is no database ${database}. \`pannier db list\` tells which there are.`
}

/** Adds what `access` grants to what is granted already. */
export function withAccess({ members, admins }: Security, access: Access): Security {
  if (access.isPublic) return { members: { names: [], roles: [] }, admins: adding(admins, access.admins, []) }
  const granted = adding(members, access.members, access.memberRoles)
  // Members close the database to everybody else; its admins have access anyway.
  const isOpen = granted.names.length + granted.roles.length === 0
  return { members: isOpen ? { names: [], roles: ['_admin'] } : granted, admins: adding(admins, access.admins, []) }
}

function adding({ names, roles }: Names, moreNames: readonly string[], moreRoles: readonly string[]): Names {
  return { names: [...new Set([...names, ...moreNames])], roles: [...new Set([...roles, ...moreRoles])] }
}

/** Checks a `_security` value from any source. */
export function readSecurity(value: unknown): Security {
  const { members, admins } = (value ?? {}) as { readonly members?: Partial<Names>; readonly admins?: Partial<Names> }
  const namesOf = ({ names = [], roles = [] }: Partial<Names> = {}): Names => ({ names, roles })
  return { members: namesOf(members), admins: namesOf(admins) }
}
