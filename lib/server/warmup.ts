/**
 * Does the slow parts of a first request while Lambda initializes a function: the connections to AWS, and the pepper. Lambda gives a whole CPU then, and a share that depends on the memory afterwards. It writes nothing, and
 * no failure stops the function, whose first request then does the work.
 */
import { randomBytes } from 'node:crypto'
import { deadlineExceeded } from '../engine/meta/errors/deadline.ts'
import type { Table } from '../engine/storage/interface.ts'
import { generateAccessKey } from '../keys/credential/accesskey.ts'
import { table as keyTable } from '../keys/ownedaccesskey.table.ts'
import { authenticate } from '../keys/requests/authenticate.ts'
import type { AuthenticatingServer } from './authenticating.ts'
import { authenticationDeps } from './authentication.ts'
import { withTimeout } from './lambda/timeout.ts'
import { hasStore } from './openstore.ts'
import type { Environment } from './process/environment.ts'

/** The longest that a function waits: not for a second attempt of a client. Work that takes longer continues beside the first request. */
const longestMs = 800

/** The name of no object: it is invalid. */
const nobody = '-'

/** Reads of the server that need no other right than those that the function has for its requests. */
type Step = (server: AuthenticatingServer) => Promise<unknown>

/** Authenticates a key that does not exist, which reads the pepper and the table. */
const authenticateNobody: Step = (server) =>
  authenticate(
    generateAccessKey(randomBytes),
    authenticationDeps(server, () => undefined),
  )

const readNobody =
  (table: Table): Step =>
  ({ storage }) =>
    storage.get(table, nobody)

/** Returns the reads for a function: its environment names what it may read. */
function stepsFor(environment: Environment, table: Table | undefined): Step[] {
  const has = (name: string) => environment[name] !== undefined
  const steps: Step[] = []
  if (table) steps.push(readNobody(table))
  else if (hasStore(environment)) steps.push(has('PEPPER_SECRET_ID') ? authenticateNobody : readNobody(keyTable))
  if (table && has('PEPPER_SECRET_ID')) steps.push((server) => server.hashes(''))
  if (has('SIGNING_KEY_IDS')) steps.push(({ signer }) => signer.keys())
  return steps
}

/**
 * Reads what requests of a function will read. Does nothing outside of Lambda, where one process has all
 * functions. Never rejects. `table` is that of the stored kind of the function.
 */
export async function warmUp(server: AuthenticatingServer, environment: Environment, table?: Table): Promise<void> {
  if (environment.AWS_LAMBDA_INITIALIZATION_TYPE === undefined) return
  const work = Promise.allSettled(stepsFor(environment, table).map(async (step) => step(server)))
  // A failure is not logged: the first request that needs the same reports it, if it lasts. `work` never rejects.
  await withTimeout(longestMs, work, deadlineExceeded).catch(() => undefined)
}
