// Lets AWS Secrets Manager rotate the key itself. Deploy it as index.mjs with Node.js 24 and the variable KEYPLANE. Its role needs GetSecretValue,
// PutSecretValue, DescribeSecret and UpdateSecretVersionStage on the secret, which is the value of the key.
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { SecretsManager } from '@aws-sdk/client-secrets-manager'

const secrets = new SecretsManager()
const { KEYPLANE, OVERLAP = '86400' } = process.env

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base62 = (number, length) =>
  Array.from({ length }, (_, at) => DIGITS[Number((number / 62n ** BigInt(length - 1 - at)) % 62n)]).join('')

function newValue() {
  const text = `mpk_${base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43)}`
  return text + base62(BigInt(crc32(text)), 6)
}

async function call(value, path, body = {}) {
  const response = await fetch(`${KEYPLANE}/apis/management.platform/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${value}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { ok: response.ok, json: await response.json() }
}

const read = async (SecretId, version) => (await secrets.getSecretValue({ SecretId, ...version })).SecretString

const steps = {
  async createSecret(SecretId, VersionId) {
    const pending = await read(SecretId, { VersionId, VersionStage: 'AWSPENDING' }).catch((error) => {
      if (error.name !== 'ResourceNotFoundException') throw error
    })
    if (pending !== undefined) return
    const VersionStages = ['AWSPENDING']
    await secrets.putSecretValue({ SecretId, ClientRequestToken: VersionId, SecretString: newValue(), VersionStages })
  },

  async setSecret(SecretId, VersionId) {
    const current = await read(SecretId, { VersionStage: 'AWSCURRENT' })
    const key = await read(SecretId, { VersionId })
    const { json: self } = await call(current, 'selves')
    const spec = { key, overlapSeconds: Number(OVERLAP), replace: true }
    const rotation = await call(current, `ownedaccesskeys/${self.status?.accessKey}/rotate`, { spec })
    // A run that died after testSecret has made the value current already.
    if (!rotation.ok && !(await call(key, 'selves')).ok) throw new Error(rotation.json.message)
  },

  async testSecret(SecretId, VersionId) {
    const { ok, json } = await call(await read(SecretId, { VersionId }), 'selves')
    if (!ok) throw new Error(json.message)
  },

  async finishSecret(SecretId, VersionId) {
    const { VersionIdsToStages } = await secrets.describeSecret({ SecretId })
    const [current] = Object.entries(VersionIdsToStages).find(([, stages]) => stages.includes('AWSCURRENT'))
    if (current === VersionId) return
    const move = { VersionStage: 'AWSCURRENT', MoveToVersionId: VersionId, RemoveFromVersionId: current }
    await secrets.updateSecretVersionStage({ SecretId, ...move })
  },
}

export const handler = ({ Step, SecretId, ClientRequestToken }) => steps[Step](SecretId, ClientRequestToken)
