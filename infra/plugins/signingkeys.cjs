/**
 * Creates the keys that sign tokens from the setting signing-keys, a list of digits: the first key signs, all are published.
 * Number 1 is SigningKey of infra/template/keys.yml; number N is a copy named SigningKeyN. A key removed from the list is retained in KMS.
 */

const { none, onlyIf } = require('./intrinsics.cjs')

const list = { Ref: 'SigningKeys' }
const first = (separator) => ({ 'Fn::Select': [0, { 'Fn::Split': [separator, list] }] })
const arnOf = (id) => ({ 'Fn::GetAtt': [id, 'Arn'] })

const keys = Array.from({ length: 9 }, (_, index) => index + 1).map((number) => ({
  number: String(number),
  id: number === 1 ? 'SigningKey' : `SigningKey${number}`,
  listed: `HasSigningKey${number}`,
  signs: `SignsWithKey${number}`,
}))

/** Returns a value of the key that signs. */
const ofSigning = (of) =>
  keys.slice(0, -1).reduceRight((others, { id, signs }) => ({ 'Fn::If': [signs, of(id), others] }), of(keys.at(-1).id))

module.exports = class SigningKeys {
  constructor(serverless) {
    this.hooks = { 'before:package:initialize': () => this.place(serverless.service) }
  }

  place({ custom, resources }) {
    const { SigningKey } = resources.Resources
    for (const { number, id, listed, signs } of keys) {
      // What is before the number is the whole list only if the number is not in it. That a key which signs is in it, and that one
      // does, is for readers of the template: the pattern of the parameter ensures it.
      const isListed = { 'Fn::Not': [{ 'Fn::Equals': [first(number), list] }] }
      resources.Conditions[listed] = { 'Fn::Or': [{ Condition: signs }, isListed] }
      resources.Conditions[signs] =
        number === '9'
          ? { 'Fn::Not': [{ 'Fn::Or': keys.slice(0, -1).map((other) => ({ Condition: other.signs })) }] }
          : { 'Fn::Equals': [first(','), number] }
      resources.Resources[id] = { ...structuredClone(SigningKey), Condition: listed }
    }
    resources.Outputs.SigningKeyId.Value = ofSigning((id) => ({ Ref: id }))

    const published = keys.map(({ id, listed, signs }) => ({
      'Fn::If': [signs, none, onlyIf(listed, { Ref: id })],
    }))
    const SIGNING_KEY_IDS = { 'Fn::Join': [',', [ofSigning((id) => ({ Ref: id })), ...published]] }
    const Resource = keys.map(({ id, listed }) => onlyIf(listed, arnOf(id)))
    const read = { Effect: 'Allow', Action: 'kms:GetPublicKey', Resource }
    // During a rollout, and after one that went back, versions sign with the key that was first before.
    const sign = { Effect: 'Allow', Action: 'kms:Sign', Resource }
    Object.assign(custom.grants['signing-keys'], { environment: { SIGNING_KEY_IDS }, statements: [read] })
    Object.assign(custom.grants.sign, { environment: { SIGNING_KEY_IDS }, statements: [sign, read] })
  }
}
