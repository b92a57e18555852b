from django import forms

from profiling.services.catalog import ROLES

ROLE_WORDS = {
    "viewer": "viewer: reads and asks",
    "engineer": "engineer: also measures",
    "admin": "admin: also keeps people",
}


class InvitationForm(forms.Form):
    email = forms.EmailField(label="E-mail address")
    role = forms.ChoiceField(choices=[(role, ROLE_WORDS[role]) for role in ROLES], initial="engineer")


class JoinForm(forms.Form):
    name = forms.CharField(
        max_length=150,
        help_text="What you sign in with.",
        widget=forms.TextInput({"autocomplete": "username"}),
    )
    password = forms.CharField(
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        help_text="At least 10 characters, and none of the usual ones.",
    )
