/**
 * Serves the API under the setting `domain`: adds infra/domain.yml, and makes the URL below the domain the printed one and
 * the default issuer. Both then survive a new API, whose own name changes. Adds nothing without the setting.
 */

module.exports = class Domain {
  constructor(serverless) {
    this.hooks = {
      'before:package:initialize': () => this.add(serverless.service, serverless.getProvider('aws').getRegion()),
    }
  }

  add({ custom, provider, resources }, region) {
    const { domain, issuer, 'certificate-arn': certificate } = custom.settings
    if (!domain) return
    if (certificate.split(':')[3] !== region) throw new Error(`certificate-arn must be a certificate in ${region}`)
    const url = `https://${domain}${provider.environment.BASE_PATH}`
    Object.assign(resources.Resources, custom.domain.Resources)
    Object.assign(resources.Outputs, custom.domain.Outputs)
    resources.Outputs.Url.Value = url
    provider.environment.API_URL = url
    if (!issuer) provider.environment.ISSUER = url
  }
}
