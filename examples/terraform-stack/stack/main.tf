# A small stack without a cloud: terraform_data is a part of terraform itself, so this runs anywhere. Put your own resources here.

variable "environment" {
  type    = string
  default = "staging"
}

variable "release" {
  type    = string
  default = "1.0"
}

variable "admin_password" {
  type      = string
  sensitive = true
}

resource "terraform_data" "network" {
  input = "${var.environment}-network"
}

resource "terraform_data" "server" {
  input = {
    name    = "${var.environment}-server"
    release = var.release
    network = terraform_data.network.id
  }
  triggers_replace = var.environment
}

output "address" {
  value = "https://${var.environment}.example.org/"
}

output "server" {
  value = terraform_data.server.output
}

output "login" {
  value     = "admin:${var.admin_password}"
  sensitive = true
}
