/** The first access key of a local server: group system:masters, kept in the deployment's own secret for it. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { encodeUser } from '../../lib/authentication/context.ts'
import { createApiClient } from './apiclient.ts'
import type { SecretsManager } from './secretsmanager.ts'
import { StartupError } from './startuperror.ts'

export interface FirstKeyOptions {
  /** Of the group and version: `https://127.0.0.1:8443/kubernetes/management/apis/management.platform/v1`. */
  api: string
  /** PEM of the authority of that server. */
  authority: string
  secrets: Pick<SecretsManager, 'currentText' | 'setText'>
  /** Name of the secret. */
  secretName: string
  /** Folder of the bundled functions. */
  bundles: string
}

const NAME = 'admin'

/** The kept key while it is good; else a new one, so that a key that was deleted or disabled stays dead. */
export async function firstKey({ api, authority, secrets, secretName, bundles }: FirstKeyOptions): Promise<string> {
  const kept = secrets.currentText(secretName)
  if (kept !== undefined) {
    const { status } = await createApiClient(authority, kept).send('POST', `${api}/selves`, {
      apiVersion: 'management.platform/v1',
      kind: 'Self',
    })
    if (status === 201) return kept
  }
  const named = await create(bundles, { name: NAME })
  const made = named.code === 409 ? await create(bundles, { generateName: `${NAME}-` }) : named
  const key = made.object.spec?.key
  if (made.code !== 201 || key === undefined)
    throw new StartupError(`The first access key cannot be made: ${made.object.message}.`)
  await secrets.setText(secretName, key)
  return key
}

/**
 * Runs the function that serves the creation of keys with the user that the authorizer would hand it, which for this one
 * time is nobody with a key.
 */
async function create(bundles: string, metadata: object): Promise<Created> {
  const module = pathToFileURL(join(bundles, 'functions', 'ownedaccesskeys', 'create.mjs')).href
  const { handler } = (await import(module)) as { handler: Handler }
  const user = encodeUser({
    name: NAME,
    identity: `user:${NAME}`,
    groups: ['system:masters', 'system:authenticated'],
    key: { name: 'bootstrap', uid: 'bootstrap', type: '' },
    chain: [],
  })
  const spec = { displayName: 'First access key', user: NAME, groups: ['system:masters'] }
  const answer = await handler(
    {
      httpMethod: 'POST',
      resource: '/kubernetes/management/apis/management.platform/v1/ownedaccesskeys',
      path: '/kubernetes/management/apis/management.platform/v1/ownedaccesskeys',
      headers: { 'content-type': 'application/json', 'user-agent': 'keyplane-start' },
      requestContext: { requestId: randomUUID(), authorizer: { user } },
      body: JSON.stringify({ apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', metadata, spec }),
      isBase64Encoded: false,
    },
    {},
  )
  return { code: answer.statusCode, object: JSON.parse(String(answer.body)) as Created['object'] }
}

interface Created {
  code: number
  /** The key, or a Status. */
  object: { spec?: { key?: string }; message?: string }
}

type Handler = (event: object, context: object) => Promise<{ statusCode: number; body: unknown }>
