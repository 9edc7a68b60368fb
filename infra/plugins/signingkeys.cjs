/**
 * Creates the keys that sign tokens from the setting signing-keys, a list of numbers: the first key signs, all are published.
 * Number 1 is SigningKey of infra/keys.yml; number N is a copy named SigningKeyN. A key removed from the list is retained in KMS.
 */

const idOf = (number) => (number === '1' ? 'SigningKey' : `SigningKey${number}`)
const arnOf = (id) => ({ 'Fn::GetAtt': [id, 'Arn'] })

module.exports = class SigningKeys {
  constructor(serverless) {
    this.hooks = { 'before:package:initialize': () => this.place(serverless.service) }
  }

  place({ custom, resources }) {
    const numbers = String(custom.settings['signing-keys']).split(',')
    if (new Set(numbers).size < numbers.length) throw new Error('signing-keys lists a key twice')
    const ids = numbers.map(idOf)
    const { SigningKey, ...others } = resources.Resources
    const keys = Object.fromEntries(ids.map((id) => [id, structuredClone(SigningKey)]))
    resources.Resources = { ...others, ...keys }
    resources.Outputs.SigningKeyId.Value = { Ref: ids[0] }

    const refs = ids.map((id) => ({ Ref: id }))
    const SIGNING_KEY_IDS = refs.length > 1 ? { 'Fn::Join': [',', refs] } : refs[0]
    const read = { Effect: 'Allow', Action: 'kms:GetPublicKey', Resource: ids.map(arnOf) }
    const sign = { Effect: 'Allow', Action: 'kms:Sign', Resource: arnOf(ids[0]) }
    Object.assign(custom.grants['signing-keys'], { environment: { SIGNING_KEY_IDS }, statements: [read] })
    Object.assign(custom.grants.sign, { environment: { SIGNING_KEY_IDS }, statements: [sign, read] })
  }
}
