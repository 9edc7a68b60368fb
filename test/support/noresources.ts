/** Variables of functions that reach no AWS service: they name an address and resources that do not exist. */
export const noResources = {
  ISSUER: 'https://keys.example.com/kubernetes/management',
  API_URL: 'https://keys.example.com/kubernetes/management',
  TABLE_NAME: 'keyplane',
  PEPPER_SECRET_ID: 'pepper',
  SIGNING_KEY_IDS: 'key',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
}
