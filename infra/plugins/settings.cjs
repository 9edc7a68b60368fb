/** Checks the settings of a deployment (`custom.settings` of serverless.yml) with the rest of the configuration. */

const seconds = { type: 'integer', minimum: 0, maximum: 3153600000 }

module.exports = class Settings {
  constructor(serverless) {
    serverless.configSchemaHandler.defineCustomProperties({
      properties: {
        settings: {
          type: 'object',
          additionalProperties: false,
          properties: {
            // The longest name of a function, keyplane-STAGE-virtualclusterinstances-kubeconfig-create, ends at 64 characters.
            stage: { type: 'string', pattern: '^[a-z][a-z0-9]{0,12}$' },
            // Compared byte for byte by those who verify tokens: no trailing slash, query or fragment.
            issuer: { type: 'string', pattern: '^https://[^/?#\\s]+(/[^/?#\\s]+)*$', maxLength: 512 },
            'max-key-ttl-seconds': seconds,
            'max-token-ttl-seconds': { ...seconds, minimum: 600 },
            'max-certificate-ttl-seconds': { ...seconds, minimum: 600 },
            'key-retention-seconds': seconds,
            'project-namespace-prefix': { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,30})$' },
          },
          required: [
            'stage',
            'max-key-ttl-seconds',
            'max-token-ttl-seconds',
            'max-certificate-ttl-seconds',
            'key-retention-seconds',
            'project-namespace-prefix',
          ],
        },
      },
    })
  }
}
