from typing import Any

from allauth.account.forms import LoginForm


class SignInForm(LoginForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "Name"
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)

    def add_prefix(self, field_name: str) -> str:
        """As password managers have known the field so far."""
        return "username" if field_name == "login" else super().add_prefix(field_name)
