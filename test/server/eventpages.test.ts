/** Runs the function of examples/events that disables a key whose ended value is used, with the key that is made for it there. */

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { load } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Aws, startAws } from '../support/aws.ts'
import { readExample } from '../support/examples.ts'
import { testFolder } from '../support/folder.ts'
import { accessKey, keys } from '../support/objects.ts'
import { useServer } from '../support/sharedserver.ts'

const root = join(import.meta.dirname, '../..')
const SECRET = 'keyplane/local/disable-on-reuse'

const server = useServer()
const folder = testFolder()
let aws: Aws

beforeAll(async () => {
  const commands = await readExample('events/disable-on-reuse-key.sh')
  const [manifest = ''] = /^apiVersion: management[\s\S]*?(?=^EOF$)/m.exec(commands) ?? []
  const template = await readExample('events/disable-on-reuse.yaml')
  const { Resources } = load(template.replace(/!(Sub|Ref|GetAtt) /g, '')) as {
    Resources: { Function: { Properties: { Code: { ZipFile: string } } } }
  }
  await writeFile(join(folder, 'index.js'), Resources.Function.Properties.Code.ZipFile)
  await writeFile(join(folder, 'ca.crt'), server.certificateAuthority)
  const { json } = await server.call(keys, {
    method: 'POST',
    body: manifest,
    headers: { 'content-type': 'application/yaml' },
  })
  aws = await startAws()
  aws.setSecret(SECRET, json.spec.key)
})
afterAll(async () => {
  await aws.stop()
})

/** Invokes the function in a process of its own with the event of a key. */
async function invoke(data: { name: string; uid: string }): Promise<void> {
  const call = `require('./index.js').handler(${JSON.stringify({ detail: { data } })})`
  await promisify(execFile)(process.execPath, ['-e', call], {
    cwd: folder,
    env: {
      ...process.env,
      URL: server.base,
      SECRET,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url,
      NODE_PATH: join(root, 'node_modules'),
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt'),
    },
  })
}

const isDisabled = async (name: string): Promise<boolean> =>
  (await server.call(`${keys}/${name}`)).json.spec.disabled === true

test('the key whose old value was used is disabled, and no other one', async () => {
  const { metadata } = await server.make(keys, accessKey('rotated', { user: 'alice' }))
  await invoke({ name: 'rotated', uid: '00000000-0000-4000-8000-000000000000' })
  expect(await isDisabled('rotated')).toBe(false)
  await invoke({ name: 'rotated', uid: metadata.uid })
  expect(await isDisabled('rotated')).toBe(true)
  await invoke({ name: 'gone', uid: metadata.uid })
})

test('the function fails if it may not disable the key, so that the event is delivered again', async () => {
  const { metadata } = await server.make(keys, accessKey('other', { user: 'alice' }))
  await server.call(`${keys}/disable-on-reuse`, { method: 'DELETE' })
  await expect(invoke({ name: 'other', uid: metadata.uid })).rejects.toThrow('status 401')
})
