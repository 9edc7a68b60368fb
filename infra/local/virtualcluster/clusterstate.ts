/** Stores the state of a local virtual cluster across restarts. */
import { randomBytes } from 'node:crypto'
import { type KeyPair, keepAuthority } from '../host/certificates.ts'
import { openStored } from '../host/stored.ts'
import { ROLES, type Role } from './clusteraccess.ts'

export interface ClusterState {
  authority: KeyPair
  /** Port of the previous start, so that existing kube configs stay valid; 0 when there is none. */
  port: number
  tokens: Record<Role, string>
  /** Stores the current port. */
  keepPort(port: number): Promise<void>
}

type Kept = Partial<Pick<ClusterState, 'authority' | 'port' | 'tokens'>>

export interface ClusterStateOptions {
  /** File that stores authority, port and tokens; in memory when absent. */
  path?: string
  /** Unix milliseconds. */
  now: () => number
  /** Receives sentences for the person at the terminal. */
  say?: (sentence: string) => void
}

/** Opens the state. Throws a StartupError for a damaged file. */
export async function openClusterState({ path, now, say = () => {} }: ClusterStateOptions): Promise<ClusterState> {
  const stored = await openStored<Kept>(path, {})
  const { authority: kept, port = 0, tokens = newTokens() } = stored.state
  const authority = await keepAuthority(kept, 'keyplane demo virtual cluster', now(), say)
  return {
    authority,
    port,
    tokens,
    async keepPort(wanted) {
      if (wanted !== port || authority !== kept)
        await stored.change((draft) => Object.assign(draft, { authority, port: wanted, tokens }))
    },
  }
}

const newTokens = (): Record<Role, string> =>
  Object.fromEntries(ROLES.map((role) => [role, randomBytes(32).toString('base64url')])) as Record<Role, string>
